"""Checks shared by the two halves of the spectral step."""


def check_counts(n_samples: int, n_clusters: int, n_components: int) -> None:
    """Refuse numbers of clusters or components that do not fit the number of samples."""
    for name, count in (("n_clusters", n_clusters), ("n_components", n_components)):
        if not 1 <= count <= n_samples:
            raise ValueError(f"{name}={count} must lie between 1 and n_samples={n_samples}")


def check_nonzero_rows(n_nonzero: int, n_clusters: int) -> None:
    """Refuse an embedding with fewer nonzero rows than clusters."""
    if n_nonzero < n_clusters:
        raise ValueError(
            f"the embedding has {n_nonzero} nonzero rows, fewer than n_clusters={n_clusters}: the "
            "affinity connects too few points. Connect more of them (raise eta2 or n_neighbors), "
            "or ask for fewer clusters"
        )
