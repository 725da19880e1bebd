import type { ServerResponse } from 'node:http'
import type {
  AnswerContext,
  ClaimToCheck,
  PaidCalls,
  SeenSource,
} from '../../src/capabilities/verification/contract.ts'
import { openOutbound, parseAllowedNetwork } from '../../src/platform/outbound/index.ts'
import { type Received, startReceiver } from './receiver.ts'

export type PageAnswer = (response: ServerResponse, request: Received) => unknown

/**
 * Starts a web of loopback: each host of `pages` answers as its entry says. Other hosts of the
 * `.com` domain do not exist. Hosts of `addresses` resolve to the given address.
 */
export async function startWeb() {
  const receiver = await startReceiver()
  const pages = new Map<string, PageAnswer>()
  const addresses = new Map<string, string>()
  receiver.answer = (response, request) => {
    const host = String(request.headers.host).split(':')[0] ?? ''
    const answer = pages.get(`${host}${request.path}`) ?? pages.get(host)
    if (answer === undefined) response.writeHead(404).end()
    else answer(response, request)
  }
  const resolve = async (host: string) => {
    const isKnown = [...pages.keys()].some((key) => key.split('/')[0] === host)
    const address = addresses.get(host) ?? (isKnown ? '127.0.0.1' : undefined)
    return address === undefined ? [] : [{ address, family: 4 }]
  }
  const allowed = [parseAllowedNetwork(`127.0.0.0/8:${receiver.port}`)]
  return {
    ...{ pages, addresses, received: receiver.received, close: receiver.close },
    outbound: openOutbound({ allowed, resolve }),
    urlOf: (host: string, path = '/') => `http://${host}:${receiver.port}${path}`,
  }
}

/** Answers with a page of HTML. */
export function html(body: string, headers: Record<string, string> = {}): PageAnswer {
  return (response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(body)
}

/** Answers with JSON. */
export function json(value: unknown): PageAnswer {
  return (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Sends each call at once, and reports a failed one as the budget of a run does. */
export const payAtOnce: PaidCalls = async (call, signal) => {
  try {
    return { outcome: 'answered', reply: (await call.send(signal)).reply }
  } catch (error) {
    return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) }
  }
}

/** Returns the context of an answer to a question, with what the agent saw. */
export function answerContext(
  text: string,
  { question = '', seen = [], ...changes }: Partial<AnswerContext> = {},
): AnswerContext {
  const place = { trace_id: 't1', observation_id: 'o9' }
  return {
    ...{ project_id: 'p1', trace_id: 't1', task_id: null, user_id: null, environment: null },
    ...{ trace_start: '2026-01-01T00:00:00.000Z', question, seen, models: [], gaps: [] },
    answer: { text, place, digest: 'd', is_complete: true },
    ...changes,
  }
}

/** Returns a text that the agent saw. */
export function seenSource(text: string, changes: Partial<SeenSource> = {}): SeenSource {
  const place = { trace_id: 't1', observation_id: 'o1' }
  return {
    source: 'tool search',
    role: 'tool',
    text,
    place,
    is_complete: true,
    digest: 'd1',
    ...changes,
  }
}

/** Returns a part of an answer as a claim without values. */
export function claimOf(text: string, start = 0): ClaimToCheck {
  return { text, at: [start, start + text.length], values: [] }
}
