"""SGD with momentum and Adam as loops over scalars, in float64."""

import math


def sgd(theta, gradients, rate, momentum):
    """theta after one step per gradient: theta += rate velocity."""
    velocity = 0.0
    for g in gradients:
        velocity = momentum * velocity + (1 - momentum) * g
        theta += rate * velocity
    return theta


def adam(theta, gradients, rate, mean_decay=0.9, square_decay=0.999, small=1e-8):
    """Algorithm 1 of Kingma & Ba (2015), uphill."""
    m = v = 0.0
    for t, g in enumerate(gradients, start=1):
        m = mean_decay * m + (1 - mean_decay) * g
        v = square_decay * v + (1 - square_decay) * g * g
        m_hat, v_hat = m / (1 - mean_decay**t), v / (1 - square_decay**t)
        theta += rate * m_hat / (math.sqrt(v_hat) + small)
    return theta
