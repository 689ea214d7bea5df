from dssc.paper.render import Cell, Table


def test_html_is_safe():
    table = Table("a < b", ["x"], [[Cell("<script>", bold=True)]])
    assert "<b>&lt;script&gt;</b>" in table.html()
    assert "<title>a &lt; b</title>" in table.html()
