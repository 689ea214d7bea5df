"""Checks shared by the two halves of the spectral step."""


def check_counts(n_samples: int, n_clusters: int, n_components: int) -> None:
    """Refuse numbers of clusters or components that do not fit the number of samples."""
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(f"n_clusters={n_clusters} must lie between 1 and n_samples={n_samples}")
    if not 1 <= n_components <= n_samples:
        raise ValueError(
            f"n_components={n_components} must lie between 1 and n_samples={n_samples}"
        )


def check_nonzero_rows(n_nonzero: int, n_clusters: int) -> None:
    """Refuse an embedding with fewer nonzero rows than clusters."""
    if n_nonzero < n_clusters:
        raise ValueError(
            f"the embedding has {n_nonzero} nonzero rows, fewer than n_clusters={n_clusters}"
        )
