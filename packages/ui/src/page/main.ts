/** The page of `tenure ui`. */
import { App } from "./app.ts";
import { ClusterPanel } from "./cluster.ts";
import { Details } from "./details.ts";
import { byId, setText } from "./dom.ts";
import { ElectionList } from "./election-list.ts";
import { startControls } from "./keyboard.ts";
import { startLegend } from "./legend.ts";
import { openRecorded } from "./recorded.ts";
import { followServer, openSession } from "./stream.ts";
import { startTheme } from "./theme.ts";
import { TopBar } from "./top-bar.ts";
import { Tracks } from "./tracks.ts";

const app = new App();
const drawLegend = startLegend();
const tracks = new Tracks(app);
const nextTheme = startTheme(() => {
  tracks.themeChanged();
  drawLegend();
});
const list = new ElectionList(app, tracks);
const details = new Details(app, tracks.offsetMs);
const top = new TopBar(app);
const cluster = new ClusterPanel(app);
startControls({ app, tracks, list, nextTheme, closeDetails: () => details.close() });
app.onDraw(() => {
  tracks.draw();
  list.draw();
  details.draw();
  top.draw();
  cluster.draw();
});
app.invalidate();

if (!(await openRecorded(app))) {
  try {
    await openSession();
    await followServer(app);
  } catch (error) {
    setText(byId("scope"), error instanceof Error ? error.message : String(error));
    byId("connection").classList.add("down");
  }
}
