"""Turns and reflections of windows."""

import numpy as np
import pytest

from thermorbm.lattice import n_point_symmetries
from thermorbm.model.windows import window_images


@pytest.mark.parametrize(("side", "dimension", "n_images"), [(3, 1, 2), (3, 2, 8), (2, 2, 8), (2, 3, 48)])
def test_images_are_a_group_that_keeps_distances(side, dimension, n_images):
    images = window_images(side, dimension)
    assert images.shape == (n_images, side**dimension)
    assert n_images == n_point_symmetries(dimension)
    found = {tuple(image) for image in images}
    assert len(found) == n_images
    assert {tuple(a[b]) for a in images for b in images} == found
    np.testing.assert_array_equal(images[0], np.arange(side**dimension))
    places = np.argwhere(np.ones((side,) * dimension))
    distances = ((places[:, None] - places) ** 2).sum(axis=2)
    for image in images:
        np.testing.assert_array_equal(distances[np.ix_(image, image)], distances)
