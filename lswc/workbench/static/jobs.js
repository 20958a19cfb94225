// Shows how jobs go on, until one begins or ends: then the page is loaded again.
"use strict";

const LOOK = 2000;
const parts = [...document.querySelectorAll("section[data-job]")];

function goesOn(job) {
  const share = job.share == null ? "" : `, ${percent(job.share)}`;
  const soFar = job.so_far ? `, ${bytes(job.so_far)} so far` : "";
  return `${job.what || "It is being made"}${share}${soFar}, for ${lasted(job.seconds)}`;
}

async function look() {
  try {
    const answer = await ask("api/jobs");
    for (const part of parts) {
      const job = answer.jobs[part.dataset.job];
      if (!job) continue;
      const serves = !part.querySelector("progress");
      if (job.state !== part.dataset.state || (serves && job.state === "runs" && answer.player && !part.querySelector("a"))) {
        location.reload();
        return;
      }
      if (job.state !== "runs" || serves) continue;
      part.querySelector("[data-part=text]").textContent = goesOn(job);
      if (job.share != null) part.querySelector("progress").value = job.share;
    }
    alarm("");
  } catch (error) {
    alarm(reason(error));
  }
  setTimeout(look, LOOK);
}

const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);
for (const part of document.querySelectorAll("[data-elsewhere]")) part.hidden = isHere;
if (parts.some((part) => part.dataset.state === "runs")) look();
