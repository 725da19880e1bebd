import { isEnd } from '../../messages/message.ts'
import { plain, textOf } from '../message-text.ts'
import { fieldOf, type OpenChannel, type Outgoing, type Send } from './contract.ts'
import { postJson } from './post-json.ts'

type Labels = Readonly<Record<string, string>>

/**
 * Alertmanager resolves an alert at its `endsAt`, and forgets alerts when it restarts: clients must send
 * them again before. An outage of the workers that is shorter ends no alert.
 */
const firing_ms = 30 * 60_000

/** Time between two sendings of an alert that fires. */
export const alertsAgainMs = 5 * 60_000

/**
 * Sends messages as alerts. The labels of an incident are equal in all messages, because they are
 * the identity of an alert. When the severity rises, the alert of the lower severity is ended.
 * https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
 */
export const sendAlertmanager: Send = async (messages, channel, ports) => {
  const newest = [
    ...new Map(messages.map((one) => [one.message.incident.incident_id, one])).values(),
  ]
  const alerts = newest.flatMap((one) => alertsOf(one, channel, ports.now_ms))
  const authorization = fieldOf(channel, 'authorization')
  const sent = await postJson(
    {
      url: `${fieldOf(channel, 'url').replace(/\/+$/, '')}/api/v2/alerts`,
      body: JSON.stringify(alerts),
      headers: authorization === '' ? {} : { authorization },
    },
    ports,
  )
  const threads = newest.map(
    ({ message }) =>
      [message.incident.incident_id, JSON.stringify(labelsOf(message.incident))] as const,
  )
  return { ...sent, threads: new Map(threads) }
}

function alertsOf({ message, thread }: Outgoing, channel: OpenChannel, now_ms: number): object[] {
  const { incident, reason } = message
  const { title, body } = textOf(message, channel.templates, plain)
  const labels = labelsOf(incident)
  const before = thread === null ? undefined : (JSON.parse(thread) as Labels)
  const { summary: _, description: __, ...annotations } = incident.annotations
  const alert = {
    startsAt: incident.opened_at,
    ...(message.links !== undefined && { generatorURL: message.links.incident }),
    annotations: {
      ...annotations,
      summary: title,
      description: body,
      ...(incident.runbook_url !== null && { runbook_url: incident.runbook_url }),
    },
  }
  const end = new Date(isEnd(reason) ? now_ms : now_ms + firing_ms).toISOString()
  const isOther = before !== undefined && JSON.stringify(before) !== JSON.stringify(labels)
  return [
    ...(isOther ? [{ ...alert, labels: before, endsAt: new Date(now_ms).toISOString() }] : []),
    { ...alert, labels, endsAt: end },
  ]
}

/** Returns the labels of an alert. Those of the incident cannot replace its identity. */
function labelsOf(incident: Outgoing['message']['incident']): Labels {
  const named = { ...incident.labels, ...incident.group }
  const labels = {
    ...named,
    alertname: incident.rule,
    severity: incident.severity,
    incident_id: incident.incident_id,
    project_id: incident.project_id,
  }
  return Object.fromEntries(
    Object.entries(labels)
      .filter(([, value]) => value !== '')
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}
