"""How the result was computed: what was tried, the certificate, and how to make it again."""

from html import escape
from typing import Any

from dssc.report.content import Content
from dssc.report.markup import row, section, sentence, table
from dssc.report.recipe import python_code, reported_parameters, used_values, versions

# Columns of the table of candidates: the attribute, its heading and its format.
CANDIDATE_COLUMNS = (
    ("eta1", "eta1", "{:.4g}"),
    ("n_neighbors", "neighbours", "{}"),
    ("signed", "signed", "{}"),
    ("distance", "distance from neighbourhood", "{:.4f}"),
    ("modularity", "modularity", "{:.4f}"),
    ("residual", "held-out residual", "{:.4f}"),
    ("n_pieces", "components", "{}"),
    ("stray_share", "stray points", "{:.1%}"),
)


def tried(content: Content) -> str:
    """Return what was tried before the parameters were chosen; nothing if they were given."""
    candidates = getattr(content.model, "candidates_", [])
    explanation = getattr(content.model, "explanation_", "")
    if len(candidates) < 2 and not explanation:
        return ""
    text = "Parameters were chosen without labels."
    if explanation:
        text += f" {escape(sentence(explanation))}"
    columns = [
        column
        for column in CANDIDATE_COLUMNS
        if any(getattr(candidate, column[0]) is not None for candidate in candidates)
    ]
    heads = ["<td></td>", *(f'<th scope=col class="num">{title}</th>' for _, title, _ in columns)]
    rows = [
        f"<tr{' class=chosen' if place == 0 else ''}><th scope=row>"
        f"{'chosen' if place == 0 else ''}</th>"
        + "".join(f'<td class="num">{_value(candidate, c)}</td>' for c in columns)
        + "</tr>"
        for place, candidate in enumerate(candidates)
    ]
    body = table("plain", heads, rows) if candidates else ""
    return section("tried", "What was tried", text, body)


def _value(candidate: Any, column: tuple[str, str, str]) -> str:
    value = getattr(candidate, column[0])
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else column[2].format(value)


def certificate(content: Content) -> str:
    """Return the certificate of the optimisation, and the seconds of each step."""
    result = content.certificate
    text = (
        "This is about the solver, not about the clusters: it says whether the affinity solves its "
        "optimisation problem."
    )
    seconds = "".join(
        row(f"seconds: {stage}", f"{value:.2f}") for stage, value in content.model.timings_.items()
    )
    kind = "" if result is None or result.converged else ' class="bad"'
    head = f"<tr><th scope=row>certificate</th><td{kind}>{escape(_proof(result))}</td></tr>"
    return section("certificate", "Optimisation", text, table("plain", [], [head, seconds]))


def _proof(result: Any) -> str:
    """Return in words what is proved about the result of a solver."""
    if result is None:
        return "none: a symmetric affinity needs no solver, so nothing is to be proved"
    if hasattr(result, "violations"):
        numbers = f"optimality conditions of every row within {result.violations.max():.0e}"
    else:
        numbers = f"sums within {result.marginal_error:.0e}, duality gap {result.gap:.0e}"
    outcome = "optimal, proved" if result.converged else "not converged"
    return f"{outcome}: {numbers}. {sentence(result.status)}"


def again(content: Content) -> str:
    """Return the command and the parameters that make the result again."""
    model = content.model
    is_random = model.get_params().get("random_state") is None
    text = (
        "random_state was not given, so labels can differ slightly between runs."
        if is_random
        else "The same data with these parameters and versions give the same labels."
    )
    parts = []
    if content.command is not None:
        parts.append(f"<h3>On the command line</h3>{_code(content.command)}")
    code = python_code(model, content.title, content.preparation)
    parts.append(f"<h3>In Python</h3>{_code(code)}")
    rows = [
        *(row(name, _shown(value)) for name, value in used_values(model).items()),
        row("versions", versions()),
    ]
    parts.append(f"<h3>Values that were used</h3>{table('plain', [], rows)}")
    parameters = [row(name, repr(value)) for name, value in reported_parameters(model).items()]
    parts.append(
        f"<details><summary>All parameters</summary>{table('plain', [], parameters)}</details>"
    )
    return section("again", "Make it again", text, "".join(parts))


def _code(text: str) -> str:
    return f'<pre tabindex="0"><code>{escape(text)}</code></pre>'


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
