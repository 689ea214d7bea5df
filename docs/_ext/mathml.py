"""Formulas as MathML, which browsers show by themselves: no script, no network."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

# The translator misreads \tfrac12 (as a fraction of twelve) and bars (as relations).
BARE_FRACTION = re.compile(r"\\([td]?frac)\s*(\d)\s*(\d)")
BAR = re.compile(r"<mo[^>]*>([|∥‖])</mo>")


def _translate(translator, node, as_block):
    formula = BARE_FRACTION.sub(r"\\\1{\2}{\3}", node.astext())
    try:
        markup = tex2mathml(formula, as_block=as_block)
        return BAR.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', markup)
    except (MathError, SyntaxError) as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return f"<code>{translator.encode(node.astext())}</code>"


def visit_inline(translator, node):
    """Write a formula inside a line of text."""
    translator.body.append(_translate(translator, node, as_block=False))
    raise nodes.SkipNode


def visit_block(translator, node):
    """Write a displayed formula."""
    translator.body.append(_translate(translator, node, as_block=True))
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
