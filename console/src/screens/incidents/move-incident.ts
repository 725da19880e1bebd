import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import type { Incident } from '../../api/schema.gen.d.ts'
import { notify } from '../../ui/toasts.tsx'
import { refreshIncidents } from '../shared/refresh-incidents.ts'

/** A move of a person on an incident. */
export type Move =
  | { type: 'ack' | 'resolve' | 'reopen' | 'unsnooze'; note?: string }
  | { type: 'snooze'; for: string; note?: string }
  | { type: 'assign'; assignee: string | null; note?: string }
  | { type: 'comment'; note: string }

/** An incident to move. With a version, the move is refused if another person was first. */
export type Moved = Pick<Incident, 'incident_id' | 'number'> & { version?: number }

const path = '/api/v2/observability/incidents/{id}'

const done: Record<Move['type'], string> = {
  ack: 'acknowledged',
  resolve: 'resolved',
  reopen: 'open again',
  snooze: 'snoozed',
  unsnooze: 'no longer snoozed',
  assign: 'assigned',
  comment: 'commented',
}

async function send({ incident_id, version }: Moved, { type, ...body }: Move): Promise<unknown> {
  const header = version === undefined ? {} : { 'If-Match': `"${version}"` }
  const params = { path: { id: incident_id }, header }
  switch (type) {
    case 'ack':
      return call.POST(`${path}/ack`, { params, body })
    case 'resolve':
      return call.POST(`${path}/resolve`, { params, body })
    case 'reopen':
      return call.POST(`${path}/reopen`, { params, body })
    case 'unsnooze':
      return call.POST(`${path}/unsnooze`, { params, body })
    case 'snooze':
      return call.POST(`${path}/snooze`, { params, body })
    case 'assign':
      return call.POST(`${path}/assign`, { params, body: { assignee: null, ...body } })
    case 'comment':
      return call.POST(`${path}/comment`, { params, body: { note: '', ...body } })
  }
}

/** Returns a mutation that moves an incident, says so, and has lists and the incident read again. */
export function useMoveIncident(onDone?: () => void) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ incident, move }: { incident: Moved; move: Move }) => send(incident, move),
    onSuccess: (_, { incident, move }) => {
      notify(`Incident #${incident.number} is ${done[move.type]}`)
      onDone?.()
    },
    onSettled: () => refreshIncidents(client),
  })
}
