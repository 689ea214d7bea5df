"""Checks shared by the two halves of the spectral step."""


def check_counts(n_samples, n_clusters, n_components):
    """Refuse numbers of clusters or components that do not fit the number of samples."""
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(f"n_clusters={n_clusters} must lie between 1 and n_samples={n_samples}")
    if not 1 <= n_components <= n_samples:
        raise ValueError(
            f"n_components={n_components} must lie between 1 and n_samples={n_samples}"
        )
