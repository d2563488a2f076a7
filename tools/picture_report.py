"""Takes a picture of a report's first screen and of one of its runs, for the documentation.

`python tools/picture_report.py REPORT/report.html PNG`. Only of synthetic data: a picture of a run
is a picture of what its database holds.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
CHOOSE = """
() => {
  const telling = data.views.findIndex((view) => view.states.length === 3
    && decide(view, data.agents[view.agent], Number(slider.value), false).kind === "withhold"
    && view.ending === "answer");
  showRun(Math.max(0, telling));
  listRuns();
}
"""


def main() -> None:
    """Take the picture."""
    page_file, picture = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1180, "height": 1560}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.evaluate(CHOOSE)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
