"""xoshiro128** of Blackman and Vigna in whole numbers of Python, seeded as the explorer's page does it."""

MASK = 0xFFFFFFFF


def splitmix32(seed, n):
    """n numbers of 32 bits with the finalizer of MurmurHash3."""
    numbers = []
    for _ in range(n):
        seed = (seed + 0x9E3779B9) & MASK
        z = seed
        z = ((z ^ (z >> 16)) * 0x85EBCA6B) & MASK
        z = ((z ^ (z >> 13)) * 0xC2B2AE35) & MASK
        numbers.append(z ^ (z >> 16))
    return numbers


def xoshiro128_starstar(seed, n):
    """The first n numbers of 32 bits."""
    state, numbers = splitmix32(seed, 4), []
    for _ in range(n):
        numbers.append((_rotated((state[1] * 5) & MASK, 7) * 9) & MASK)
        shifted = (state[1] << 9) & MASK
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= shifted
        state[3] = _rotated(state[3], 11)
    return numbers


def _rotated(x, by):
    return ((x << by) | (x >> (32 - by))) & MASK
