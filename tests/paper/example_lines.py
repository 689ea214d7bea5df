"""Lines of results for the tests."""

from dssc.paper.experiments import clustering_job


def example_line(data, method, parameters, acc, runs=100, **more):
    job = clustering_job(method, data, parameters, runs, 10 if runs == 100 else 1)
    numbers = {"ACC": acc, "NMI": acc, "SPE": 1 - acc, "NNZ": 5.0, "fit_ACC": acc + 0.01}
    return {**job, **numbers, "seconds": 1.25, **more}
