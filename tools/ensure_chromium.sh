#!/bin/sh
# Installs Debian's Chromium and its driver for the tests that open pages in a browser, if they are missing and
# we may install; otherwise says so and leaves the test to skip.
command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "chromium or chromedriver is missing and cannot be installed here: the browser test will be skipped" >&2
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
{ apt-get update && apt-get install --yes --no-install-recommends chromium chromium-driver; } >/dev/null 2>&1 ||
    echo "installing chromium failed: the browser test will be skipped" >&2
exit 0
