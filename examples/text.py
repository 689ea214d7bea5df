"""
Text vectors
============

Documents cluster by direction: two are similar if they use the same words, however long they are.
We cluster the docstrings of scikit-learn by their tf-idf vectors, a sparse matrix that is used as
it is. Embeddings of a language model are used in the same way. Then we look at the words of each
cluster, at documents between clusters, and place a new text.
"""

import inspect
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import normalized_mutual_info_score

from dssc import ADSSC
from dssc.plotting import plot_affinity, plot_embedding

MODULES = ("cluster", "datasets", "decomposition", "ensemble", "linear_model", "metrics")


def main():
    """Cluster docstrings, show the words of each cluster, and place a new text."""
    names, documents, modules = load_documents()
    vectorizer = TfidfVectorizer(
        stop_words="english", sublinear_tf=True, min_df=2, max_df=0.3, token_pattern="[a-z]{3,}"
    )
    X = vectorizer.fit_transform(documents)
    model = ADSSC(n_clusters=len(MODULES), random_state=0).fit(X)
    print(f"{X.shape[0]} documents, {X.shape[1]} words; {model.explanation_}")
    print(f"agreement with the modules (NMI): {score(modules, model):.2f}\n")

    words = vectorizer.get_feature_names_out()
    for cluster in range(model.n_clusters_):
        weights = np.asarray(X[model.labels_ == cluster].mean(axis=0)).ravel()
        top = ", ".join(words[np.argsort(-weights)[:7]])
        print(f"cluster {cluster}, {np.sum(model.labels_ == cluster):3} documents: {top}")

    shares = model.predict_proba(X).max(axis=1)
    doubtful = ", ".join(names[row] for row in np.argsort(shares)[:5])
    print(f"\nbetween clusters: {doubtful}")
    question = "How do I compute the precision and recall of a classifier?"
    label = model.predict(vectorizer.transform([question]))[0]
    print(f"{question!r} belongs to cluster {label}")

    _, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    plot_affinity(model.affinity_matrix_, model.labels_, ax=axes[0], title="affinity by cluster")
    plot_embedding(model.embedding_, model.labels_, ax=axes[1], title="embedding")
    plt.show()


def load_documents():
    """Return the names, docstrings and modules of public classes and functions."""
    names, documents, modules = [], [], []
    for module_name in MODULES:
        module = import_module(f"sklearn.{module_name}")
        for name in sorted(module.__all__):
            text = inspect.getdoc(getattr(module, name)) or ""
            if len(text.split()) > 50:
                names.append(name)
                documents.append(text)
                modules.append(module_name)
    return names, documents, modules


def score(modules, model):
    """Return how well clusters agree with modules, from 0 to 1."""
    return normalized_mutual_info_score(modules, model.labels_)


if __name__ == "__main__":
    main()
