"""The tables of `selection.py`: how rules fare on what it has kept."""

import json
from itertools import chain, product
from operator import ne

import numpy as np
from selection_data import FRESH, GROUPS

# Fixed here, so that what is kept stays valid when the rule changes.
ETA1, N_NEIGHBORS = (0.1, 1.0, 10.0, 100.0), (4, 6, 8, 12)
STARTS = 32
STABLE = 8  # starts that an eta1 is chosen by
# What `ADSSC` does; `variants` says what the parts mean.
THE_RULE = (("residual", "modularity"), (1.0, 10.0, 0.1), (6, 12), True, (6, 12, 8, 4), 32, 8)
FORMER_RULE = (("agreement", "residual"), (1.0, 10.0, 0.1), (6, 12), False, (6, 12, 8, 4), 8, 1)


class Kept:
    """What the folder holds of a data set."""

    def __init__(self, name, folder):
        found = {eta1: dict(np.load(folder / f"{eta1:g}.npz")) for eta1 in ETA1}
        first = found[ETA1[0]]
        self.name, self.n, self.k = name, int(first["n"]), int(first["k"])
        self.plain = max(one["plain"].max() for one in found.values())
        self.faded = max(one["accuracy"].max() for one in found.values())
        self.best = max(self.plain, self.faded)
        self.found, self.known = found, {}
        fit = folder / "fit.json"
        self.fit = json.loads(fit.read_text()) if fit.exists() else None

    @property
    def rule(self):
        """The accuracy of the fit, or where there is none what the rule picks from the grid."""
        return self.fit["rule"] if self.fit else self.ratio(THE_RULE) * self.best

    @property
    def family(self):
        """The images behind it."""
        return self.name.partition(" [")[0].partition(",")[0].replace("coil40", "coil100")

    def ratio(self, variant, shift=0):
        """Return the accuracy of what a variant of the rule picks, relative to the best.

        Starts are those from the `shift`-th on.
        """
        judges, eta1s, first, weighted, counts, n_starts, n_voters = variant
        one = self.found[max(eta1s, key=lambda eta1: self.standing(eta1, first, weighted, shift))]
        graphs = [N_NEIGHBORS.index(count) for count in counts]
        starts = np.concatenate([places(graph, n_starts, shift) for graph in graphs])
        some = one["which"][starts]
        scores = {
            "agreement": -one["agreements"][np.ix_(some, some)].sum(axis=1),
            "residual": one["residuals"][some],
            "modularity": -one["modularities"][np.ix_(some, graphs)].mean(axis=1),
        }
        values = [np.round(scores[judge], 6) for judge in judges]
        ranks = sum(np.searchsorted(np.sort(some), some) for some in values)
        torn = one["pieces"][starts // STARTS] > self.k
        order = np.lexsort((values[-1], ranks, torn))[:n_voters]
        return self.accuracy(one, some[order[torn[order] == torn[order[0]]]]) / self.best

    def accuracy(self, one, voters):
        """Return the accuracy of what clusterings agree on, computed once."""
        from dssc import clustering_accuracy
        from dssc.selection.criteria import voted

        if len(voters) == 1:
            return one["accuracies"][voters[0]]
        known = self.known.setdefault(id(one), {})
        if (key := tuple(voters)) not in known:
            labels = voted(list(one["labels"][voters]), self.k)
            known[key] = clustering_accuracy(one["y"], labels)
        return known[key]

    def standing(self, eta1, counts, weighted, shift=0):
        """Return whether a graph holds together; how well starts agree, if `weighted` on much."""
        one = self.found[eta1]
        graphs = [N_NEIGHBORS.index(count) for count in counts]
        clear = []
        for graph in graphs:
            some = one["which"][places(graph, STABLE, shift)]
            agreed = one["agreements"][np.ix_(some, some)].sum() - STABLE
            weight = one["modularities"][some, graph].mean() if weighted else 1.0
            clear.append(weight * agreed / (STABLE * (STABLE - 1)))
        return one["pieces"][graphs].min() <= self.k, round(np.mean(clear), 6)


def places(graph, n_starts, shift):
    """Return where the clusterings of a graph are."""
    return STARTS * graph + shift + np.arange(n_starts)


def variants():
    """Return rules to compare.

    What ranks clusterings, the values of eta1, the numbers of neighbours that eta1 is chosen by,
    whether modularity has a say in that, the numbers that are ranked, the starts of k-means, and
    how many clusterings vote.
    """
    return list(product(
        (("agreement",), ("residual",), ("modularity",), ("agreement", "residual"),
         ("agreement", "modularity"), ("residual", "modularity"),
         ("agreement", "residual", "modularity")),
        ((1.0, 0.1), (1.0, 10.0, 0.1), (1.0, 10.0, 0.1, 100.0)),
        ((6,), (12,), (6, 12), (6, 8, 12), (4, 6, 8, 12)),
        (False, True),
        ((6, 12), (6, 12, 8), (6, 12, 8, 4)),
        (8, 32),
        (1, 8),
    ))  # fmt: skip


def neighborhood(rules):
    """Return which variants are a variant itself or differ from it in one part, as weights."""
    differ = np.array([[sum(map(ne, one, two)) for two in rules] for one in rules])
    near = (differ <= 1).astype(float)
    return near / near.sum(axis=1)


def left_out_of(kept, ratios, weights):
    """Return for each data set the ratio of the variant that is best on all other images.

    Twice: of the very best, and of the one that is best together with the variants next to it.
    """
    found = {}
    for data, own in zip(kept, ratios, strict=True):
        others = [i for i, other in enumerate(kept) if other.family != data.family]
        means = ratios[others].mean(axis=0)
        found[data.name] = own[means.argmax()], own[(weights @ means).argmax()]
    return found


def print_tables(folder):
    """Print what was kept, and the leave-one-out judgement."""
    kept = {
        name: Kept(name, folder / name)
        for name in chain(*GROUPS.values())
        if all((folder / name / f"{eta1:g}.npz").exists() for eta1 in ETA1)
    }
    seen = [data for name, data in kept.items() if name not in FRESH]
    rules = variants()
    ratios = np.array([[data.ratio(rule) for rule in rules] for data in seen])
    left_out = left_out_of(seen, ratios, neighborhood(rules))
    print("| data | n | k | best, k eigenvectors | best, fading | the rule | chosen | ratio "
          "| left out | seconds (parameters given) | k estimated (evidence) |")  # fmt: skip
    print("|---" * 11 + "|")
    for data in kept.values():
        print_row(data, left_out.get(data.name))
    for title, names in GROUPS.items():
        print_summary(title, [kept[name] for name in names if name in kept], left_out)
    means = ratios.mean(axis=0)
    print(f"\nbest variant on all but the fresh: {rules[means.argmax()]}, {means.max():.3f}; "
          f"the median of {len(rules)} variants has {np.median(means):.3f}")  # fmt: skip
    print_repeated(seen)
    print_starts(seen)


def print_repeated(kept):
    """Print what rules come to with starts of their own, up to four times; and in hindsight."""
    print("\nmean ratio of rules, with disjoint sets of starts:")
    for judges in (("agreement", "residual"), ("modularity",), ("residual", "modularity")):
        for n_starts in (8, 16, 32):
            shifts = range(0, STARTS, n_starts)
            for n_voters in (1, 8):
                rule = (judges, *THE_RULE[1:5], n_starts, n_voters)
                found = [np.mean([data.ratio(rule, shift) for data in kept]) for shift in shifts]
                means = ", ".join(f"{mean:.3f}" for mean in found)
                print(f"{' and '.join(judges)}, {n_starts} starts, {n_voters} voting: {means}")
    judges, eta1s, *rest = THE_RULE
    found = [max(data.ratio((judges, (eta1,), *rest)) for eta1 in eta1s) for data in kept]
    print(f"the rule with the best eta1 in hindsight: {np.mean(found):.3f}")


def print_starts(kept):
    """Print how much better than a mean one the start is that a quantity picks on a graph."""
    gains = {}
    for data in kept:
        for one in data.found.values():
            for graph in range(len(N_NEIGHBORS)):
                for name, gain in start_gains(one, graph, data.best).items():
                    gains.setdefault(name, []).append(gain)
    print("\naccuracy beyond that of a mean start on the same graph, relative to the best:")
    for name, some in gains.items():
        print(f"{name}: {np.mean(some):+.4f}")


def start_gains(one, graph, best):
    """Return what the starts picked on one graph gain, for every way to pick."""
    some = one["which"][places(graph, STARTS, 0)]
    accuracies = one["accuracies"][some] / best
    mean = accuracies.mean()
    gains = {"inertia of 10": one["accuracy"][graph] / best - mean}
    for n_starts in (8, 32):
        few = some[:n_starts]
        scores = {
            "modularity": one["modularities"][few, graph], "residual": -one["residuals"][few],
            "agreement": one["agreements"][np.ix_(few, few)].sum(axis=1),
            "accuracy itself": one["accuracies"][few],
        }  # fmt: skip
        for name, score in scores.items():
            picked = accuracies[np.round(score, 6).argmax()]
            gains[f"{name} of {n_starts}"] = picked - mean
    return gains


def print_summary(title, group, left_out):
    """Print the means of a group of data sets."""
    named = [data.name for data in group if data.name in left_out]
    judged = {
        "the rule": [data.rule / data.best for data in group],
        "the former rule": [data.ratio(FORMER_RULE) for data in group],
        "the former rule, other starts": [
            data.ratio(FORMER_RULE, shift) for data in group for shift in range(8, STARTS, 8)
        ],
        "left out": [left_out[name][0] for name in named],
        "left out, with its neighbourhood": [left_out[name][1] for name in named],
    }
    for what, some in judged.items():
        if some:
            print(f"\n{title}, {what}: {len(some)} values, mean ratio {np.mean(some):.3f}, "
                  f"worst {min(some):.3f}")  # fmt: skip
    factors = [abs(np.log(data.fit["estimate"][0] / data.k)) for data in group if data.fit]
    if factors:
        n_exact, n_near = np.sum(np.less(factors, 1e-9)), np.sum(np.less(factors, np.log(1.2001)))
        print(f"number of clusters: {n_exact} exact, {n_near} within a fifth, of {len(factors)}; "
              f"off by a factor of {np.exp(np.mean(factors)):.2f} in the geometric mean, "
              f"{np.exp(max(factors)):.2f} at worst")  # fmt: skip


def print_row(data, left_out):
    """Print a line of the table."""
    row = [data.name, data.n, data.k, f"{data.plain:.3f}", f"{data.faded:.3f}", f"{data.rule:.3f}"]
    out = "" if left_out is None else "{:.3f}, {:.3f}".format(*left_out)
    chosen = seconds = estimate = ""
    if data.fit:
        chosen = "({:g}, {})".format(*data.fit["chosen"])
        seconds = "{:.1f} ({:.1f})".format(*data.fit["seconds"])
        estimate = "{} ({:.2f})".format(*data.fit["estimate"])
    row += [chosen, f"{data.rule / data.best:.3f}", out, seconds, estimate]
    print("| " + " | ".join(map(str, row)) + " |")
