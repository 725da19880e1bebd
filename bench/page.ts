import type { ConsoleFacts } from './console/facts.ts'
import { consoleSection } from './console/section.ts'
import type { DetectionFacts } from './detection/facts.ts'
import { detectionSection } from './detection/section.ts'
import type { ExplorerFacts } from './explorer/facts.ts'
import { explorerSection } from './explorer/section.ts'
import type { SignalsFacts } from './incidents/facts.ts'
import { signalsSection } from './incidents/section.ts'
import type { IngestFacts } from './ingest/facts.ts'
import { ingestSection } from './ingest/section.ts'
import type { OperatorFacts } from './operator/facts.ts'
import { operatorSection } from './operator/section.ts'
import { type ProxyFacts, proxySection } from './proxy-section.ts'
import type { StoreFacts } from './store/facts.ts'
import { storeSection } from './store/section.ts'
import type { TasksFacts } from './tasks/facts.ts'
import { tasksSection } from './tasks/section.ts'

/** Machine, date and commit of the measurements. */
export type Measured<Facts> = { machine: string; date: string; node: string; facts: Facts }

/** Facts of each part; a part that was never measured is absent. */
export type Results = {
  proxy?: Measured<ProxyFacts>
  ingest?: Measured<IngestFacts>
  store?: Measured<StoreFacts>
  detection?: Measured<DetectionFacts>
  explorer?: Measured<ExplorerFacts>
  operator?: Measured<OperatorFacts>
  signals?: Measured<SignalsFacts>
  tasks?: Measured<TasksFacts>
  console?: Measured<ConsoleFacts>
}

/** `docs/reference/performance.md`. Each part names its machine and day. */
export function performancePage(results: Results): string {
  const { proxy, ingest, store, detection, explorer, operator, signals, tasks } = results
  const { console: page } = results
  const sections = [
    ...(proxy ? [`## Proxy\n\n${origin('proxy', proxy)}\n\n${proxySection(proxy.facts)}`] : []),
    ...(ingest
      ? [`## Ingest\n\n${origin('ingest', ingest)}\n\n${ingestSection(ingest.facts)}`]
      : []),
    ...(store ? [`## Store\n\n${origin('store', store)}\n\n${storeSection(store.facts)}`] : []),
    ...(detection
      ? [
          `## Detection\n\n${origin('detection', detection)}\n\n${detectionSection(detection.facts)}`,
        ]
      : []),
    ...(explorer
      ? [
          `## Traces as trees\n\n${origin('explorer', explorer)}\n\n${explorerSection(explorer.facts)}`,
        ]
      : []),
    ...(operator
      ? [`## Operator\n\n${origin('operator', operator)}\n\n${operatorSection(operator.facts)}`]
      : []),
    ...(signals
      ? [`## Incident rules\n\n${origin('signals', signals)}\n\n${signalsSection(signals.facts)}`]
      : []),
    ...(tasks
      ? [`## Pages of a task\n\n${origin('tasks', tasks)}\n\n${tasksSection(tasks.facts)}`]
      : []),
    ...(page ? [`## Console\n\n${origin('console', page)}\n\n${consoleSection(page.facts)}`] : []),
  ]
  const how =
    'Written by `make bench` from the JSON files beside it. The machine is shared: trust ratios, not times.'
  return `# Performance\n\n${how}\n\n${sections.join('\n')}`
}

function origin(part: string, { machine, date, node }: Measured<unknown>): string {
  return `Measured ${date} on ${machine}, Node ${node}, by \`npm run bench -- ${part}\`.`
}
