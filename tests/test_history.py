import json

from benchmarks.history import CASES, earlier_ratios, is_worse


def run(machine, **ratios):
    return json.dumps({"machine": machine, "ratios": ratios})


def test_a_ratio_is_compared_with_the_last_runs_on_the_same_machine():
    lines = [run("a", fit=9.0), *(run("a", fit=2.0) for _ in range(8)), run("b", fit=1.0)]
    lines += [run("a", fit=3.0), run("a", scattering=5.0)]
    assert earlier_ratios(lines, "fit", "a") == [2.0] * 8 + [3.0]
    assert earlier_ratios(lines, "fit", "c") == []


def test_a_ratio_is_worse_beyond_the_noise_of_the_median():
    assert is_worse(2.6, [2.0, 1.0, 9.0])
    assert not is_worse(2.4, [2.0, 1.0, 9.0])
    assert not is_worse(100.0, [])


def test_every_case_says_what_it_divides_by():
    assert all(case.__doc__.startswith("Divide") and " by " in case.__doc__ for case in CASES)
