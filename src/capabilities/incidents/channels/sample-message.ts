import { isEnd, type Message } from '../messages/message.ts'

/** Returns a made-up message, for previews and tests of channels. */
export function sampleMessage(
  reason: Message['reason'],
  about: { project_id: string; incident_id: string; now_ms: number },
): Message {
  const { project_id, incident_id, now_ms } = about
  const at = new Date(now_ms).toISOString()
  const isResolved = isEnd(reason)
  return {
    reason,
    at,
    note: null,
    incident: {
      incident_id,
      project_id,
      number: 0,
      title: 'Test message from Looptrace',
      state: isResolved ? 'resolved' : 'open',
      severity: 'info',
      rule: 'test',
      rules: ['test'],
      signal: 'ttft_p95',
      group: { model: 'example-model' },
      labels: {},
      annotations: { summary: 'This message tests the channel. No incident was opened.' },
      runbook_url: null,
      dedup_key: 'rule:test',
      assignee: null,
      suppressed: false,
      suppressed_by: [],
      snoozed_until: null,
      inhibited_by: [],
      flapping: false,
      late: false,
      orphaned: false,
      shadow: false,
      version: 1,
      opened_at: at,
      acknowledged_at: null,
      resolved_at: isResolved ? at : null,
      updated_at: at,
      evidence: [{ kind: 'value', value: isResolved ? 1240 : 5120, samples: 31, at }],
    },
    details: {
      limit: '> 4000 ms over 10m',
      unit: 'ms',
      task_id: null,
      trace_id: null,
      step: null,
      examples: isResolved
        ? []
        : [{ kind: 'trace', summary: 'A call with 6480 ms.', task_id: 'example-task', at }],
    },
  }
}
