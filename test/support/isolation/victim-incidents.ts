import { newId } from '../../../src/kernel/ids.ts'
import { incidentRow } from '../incident-api.ts'
import { type Must, marker, v2 } from './marker.ts'
import type { World } from './world.ts'

/** Creates channels, rules, suppressions, incidents and messages of the victim. */
export async function seedIncidents(must: Must, { db, project_id }: World, receiver_url: string) {
  const incidents = `${v2}/incidents`
  const channel = (n: number) =>
    must('POST', `${incidents}/channels`, {
      ...{ name: `${marker}-channel-${n}`, webhook: { url: `${receiver_url}/victim` } },
    })
  const condition = { signal: 'ttft_p95', window: '10m', threshold: 4000, min_samples: 30 }
  const rule = (n: number) =>
    must('POST', `${incidents}/rules`, {
      ...{ name: `${marker}-rule-${n}`, severity: 'high', condition, suspend: true },
      notify: [`${marker}-channel-1`],
    })
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const mute = (n: number) =>
    must('POST', `${incidents}/suppressions`, {
      ...{ matchers: [{ field: 'rule', value: `${marker}-${n}` }], expires_at, comment: marker },
    })
  const [channels] = [await Promise.all([channel(1), channel(2)])]
  const [rules, mutes] = [
    await Promise.all([rule(1), rule(2)]),
    await Promise.all([mute(1), mute(2)]),
  ]
  const rows = [1, 2].map((n) => {
    const named = { rule_name: `${marker}-rule-${n}`, dedup_key: `rule:${marker}-${n}` }
    return incidentRow(project_id, {
      ...{ ...named, number: n, title: `${marker} is slow` },
      opened_at: new Date().toISOString(),
    })
  })
  await db.insertInto('incidents').values(rows).execute()
  const id = String(rows[0]?.id)
  await must('POST', `${incidents}/${id}/comment`, { note: marker })
  await must('POST', `${incidents}/${id}/comment`, { note: marker })
  const now = new Date().toISOString()
  const message_ids = [newId(), newId()]
  const messages = message_ids.map((message_id, n) => ({
    ...{ id: message_id, project_id, incident_id: id, event_seq: n + 100, reason: 'opened' },
    ...{ channel: `${marker}-channel-1`, rule_name: `${marker}-rule-1`, grouping: '{}' },
    ...{ message: '{}', late: false, state: 'dead' as const, next_attempt_at: now },
    ...{ created_at: now, ended_at: now, last_error: marker },
  }))
  await db.insertInto('notification_outbox').values(messages).execute()
  return {
    ...{ id, rule_id: rules[0].rule_id, suppression_id: mutes[0].suppression_id },
    ...{ channel_id: channels[0].channel_id, message_id: String(message_ids[0]) },
  }
}
