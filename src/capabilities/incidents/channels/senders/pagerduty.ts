import type { Severity } from '../../../../model/severity.ts'
import { isEnd, type Message } from '../../messages/message.ts'
import { plain, textOf } from '../message-text.ts'
import { fieldOf, type OpenChannel, type Send } from './contract.ts'
import { postJson } from './post-json.ts'

/**
 * Sends one message as an event of PagerDuty's Events API v2. The incident's id is the key of the
 * alert, so that a repeated event changes nothing. An incident that ended before its first
 * message is an alert that is resolved at once: PagerDuty ignores a resolve without an alert.
 * https://developer.pagerduty.com/docs/events-api-v2/trigger-events/
 */
export const sendPagerDuty: Send = async ([first], channel, ports) => {
  if (first === undefined) throw new Error('an event needs a message')
  const { message } = first
  const url = fieldOf(channel, 'url')
  const post = (action: Action) =>
    postJson({ url, body: JSON.stringify(eventOf(message, channel, action)) }, ports)
  if (message.reason !== 'opened_and_resolved') return post(actionOf(message))
  const triggered = await post('trigger')
  return triggered.error === null ? post('resolve') : triggered
}

type Action = 'trigger' | 'acknowledge' | 'resolve'

function eventOf(message: Message, channel: OpenChannel, event_action: Action): object {
  const { incident, links } = message
  const { title, body } = textOf(message, channel.templates, plain)
  const payload = {
    summary: title,
    source: links?.incident ?? 'looptrace',
    severity: severities[incident.severity],
    timestamp: message.at,
    component: incident.rule,
    group: incident.project_id,
    class: incident.signal,
    custom_details: { text: body, labels: incident.labels, group: incident.group },
  }
  const pages = [
    { href: incident.runbook_url, text: 'Runbook' },
    { href: links?.incident, text: 'Incident' },
    { href: links?.task, text: 'Task' },
    { href: links?.trace, text: 'Trace' },
  ].filter(({ href }) => href != null)
  return {
    routing_key: fieldOf(channel, 'routing_key'),
    event_action,
    dedup_key: incident.incident_id,
    ...(event_action === 'trigger' && {
      client: 'Looptrace',
      payload,
      ...(links !== undefined && { client_url: links.incident }),
      ...(pages.length > 0 && { links: pages }),
    }),
  }
}

function actionOf({ reason, incident }: Message): Action {
  if (isEnd(reason)) return 'resolve'
  return incident.state === 'acknowledged' && reason !== 'raised' ? 'acknowledge' : 'trigger'
}

const severities: Readonly<Record<Severity, 'info' | 'warning' | 'error' | 'critical'>> = {
  info: 'info',
  low: 'warning',
  medium: 'warning',
  high: 'error',
  critical: 'critical',
}
