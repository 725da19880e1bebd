import { once } from 'node:events'
import { afterAll, expect, test } from 'vitest'
import { sleep } from '../../src/kernel/time.ts'
import { edgeRules, edgesOf } from '../support/edge-rules.ts'
import { eventually } from '../support/eventually.ts'
import { openIncidentBench } from '../support/incident-bench.ts'
import { type KillableProcess, killableProcesses } from '../support/killable-processes.ts'
import { killsOfRun, msFor } from '../support/kills-of-run.ts'

/**
 * kill -9 and SIGSTOP past the lease, with two evaluators. The long run is `KILLS=20 npx vitest run
 * test/e2e/incident-kills.test.ts`.
 */
const kills = killsOfRun({ test: 1, soak: 3 })
/** Longer than the lease of `evaluator-process.ts`. */
const stopped_ms = 2_000

const evaluators = killableProcesses(new URL('../support/evaluator-process.ts', import.meta.url))

afterAll(() => evaluators.killAll())

async function start(url: string): Promise<KillableProcess> {
  const evaluator = evaluators.start(url)
  await once(evaluator.stdout, 'data')
  return evaluator
}

test(
  'killed and stopped evaluators: each rule opens once and resolves once, at its slots',
  async () => {
    await using bench = await openIncidentBench()
    const project_id = await bench.newProject()
    const start_ms = Math.ceil(Date.now() / 1000) * 1000 + 4_000
    const rules = edgeRules(2 * (4 * kills + 4), start_ms)
    for (const rule of rules) await bench.addRule(project_id, rule)
    const running = [await start(bench.url), await start(bench.url)]
    for (let at = 0; at < kills; at += 1) {
      const [first, second] = running
      if (first === undefined || second === undefined) break
      second.kill('SIGSTOP')
      await sleep(stopped_ms)
      await evaluators.kill(first)
      second.kill('SIGCONT')
      running.splice(0, 2, second, await start(bench.url))
    }
    const timeline = () =>
      bench.db
        .selectFrom('incident_events')
        .innerJoin('incidents', 'incidents.id', 'incident_id')
        .select(['rule_name', 'type', 'at', 'seq'])
        .where('incidents.project_id', '=', project_id)
        .execute()
    await eventually('all rules ended', async () => (await timeline()).length >= 2 * rules.length, {
      timeout_ms: msFor(kills),
    })
    await Promise.all(running.map(evaluators.kill))
    const events = (await timeline()).map(
      ({ rule_name, type, at, seq }) => `${rule_name} ${seq} ${type} ${at}`,
    )
    const expected = rules.flatMap((rule) => {
      const { from_ms, to_ms } = edgesOf(rule)
      return [
        `${rule.name} 1 opened ${new Date(from_ms).toISOString()}`,
        `${rule.name} 2 resolved ${new Date(to_ms).toISOString()}`,
      ]
    })
    expect(events.toSorted()).toEqual(expected.toSorted())
    const messages = await bench.db
      .selectFrom('notification_outbox')
      .select(['id', 'rule_name', 'reason', 'channel'])
      .where('project_id', '=', project_id)
      .execute()
    expect(messages).toHaveLength(4 * rules.length)
    const distinct = messages.map((one) => `${one.rule_name} ${one.reason} ${one.channel}`)
    expect(new Set(distinct).size).toBe(messages.length)
    process.stdout.write(`incidents: ${kills} kills, ${events.length} events, lost 0, twice 0\n`)
  },
  msFor(kills),
)
