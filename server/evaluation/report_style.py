"""How the HTML report looks: readable in light and dark, on a phone and in print."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--paper:#fff;--card:#f7f7f5;--ink:#1d1f21;--soft:#5c6166;--line:#dcdcd8;
--bar:#3b6fb6;--good:#1f7a4d;--bad:#b3362b;--same:#7a7f85}
@media (prefers-color-scheme:dark){:root{--paper:#15171a;--card:#1e2125;--ink:#e8e8e6;--soft:#a3a9af;
--line:#33383d;--bar:#7fabe8;--good:#62c794;--bad:#f08a80;--same:#969ca3}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1.5rem 1rem 4rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .25rem}h2{font-size:1.2rem;margin:2.5rem 0 .5rem}
h3{font-size:1rem;margin:0 0 .5rem}p{margin:.25rem 0 .75rem;max-width:46rem}.soft{color:var(--soft)}
.told{border-left:3px solid var(--bar);padding:.5rem .75rem;background:var(--card)}
.cards{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr))}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:0}
.row{display:grid;grid-template-columns:minmax(5rem,9rem) 1fr minmax(3.5rem,auto);gap:.5rem;
align-items:center;
font-size:.875rem;min-height:1.75rem}
.row span{line-height:1.2}.row{padding:.15rem 0}
.row .value{text-align:right;font-variant-numeric:tabular-nums}
svg{display:block;width:100%;height:1.25rem;overflow:visible}
.bar{fill:var(--bar)}.slow{fill:var(--bar);opacity:.35}.ground{fill:var(--line)}
.better{--mark:var(--good)}.worse{--mark:var(--bad)}.none{--mark:var(--same)}
.interval{stroke:var(--mark);stroke-width:3}.point{fill:var(--mark)}
.zero{stroke:var(--soft);stroke-dasharray:3 3}
.verdict{color:var(--mark);font-weight:600}
details{margin:.75rem 0;border-top:1px solid var(--line)}
summary{cursor:pointer;padding:.5rem 0;min-height:2.75rem}
.wide{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
th,td{border-bottom:1px solid var(--line);padding:.35rem .6rem;text-align:right;vertical-align:top}
th{color:var(--soft);font-weight:600;white-space:nowrap}td:first-child,th:first-child{text-align:left}
.texts td,.texts th{text-align:left}.texts td:nth-child(3){min-width:14rem;max-width:28rem;white-space:normal}
:focus-visible{outline:2px solid var(--bar);outline-offset:2px}
@media print{details>*{display:block}body{max-width:none}}
"""
