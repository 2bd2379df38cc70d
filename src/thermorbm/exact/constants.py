"""Critical points of the Ising model on periodic square and cubic lattices, with J = k_B = 1."""

from __future__ import annotations

import math

# Kramers and Wannier, Phys. Rev. 60, 252 (1941): sinh(2 / T_c) = 1.
TC_2D = 2 / math.log1p(math.sqrt(2))

# Ferrenberg, Xu and Landau, Phys. Rev. E 97, 043301 (2018): K_c = 0.221654626(5).
KC_3D = 0.221654626
TC_3D = 1 / KC_3D
