"""The short form of what soak.py does for long."""

import kills


def check_what_wait_confirmed_outlives_kills():
    assert kills.kill_at_random(8, 15) > 0
