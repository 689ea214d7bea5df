from dssc.paper import execution
from dssc.paper.experiments import jobs_of
from dssc.paper.pages import runtimes_table
from dssc.paper.table_rows import result_text


def test_a_projection_that_takes_too_long_is_stopped_and_said_to_be(tmp_path, monkeypatch):
    monkeypatch.setitem(execution.paper_data("runtimes"), "limit", 0.02)
    (job,) = (
        job
        for job in jobs_of("runtimes", quick=True)
        if (job["data"], job["method"]) == ("D4", "alternating")
    )
    line = execution.run_job(job, tmp_path)
    assert (line["limit"], line["reached"], line["n"]) == (0.02, False, 400)
    assert result_text(line).endswith("stopped after 0.02 s")
    cells = [cell.text for row in runtimes_table([line]).rows for cell in row]
    assert "NC (stopped after 0.02 s) (n = 400)" in cells
