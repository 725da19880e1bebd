import type { Api } from '../../test/support/clients/api-reader.ts'
import { eventually } from '../../test/support/eventually.ts'

const spans_per_request = 10_000

type Target = { base_url: string; project_key: string; project_id: string; api: Api }

/** Sends a trace of chains of ten spans below one root by OTLP, and waits until it is stored. */
export async function storeLongTrace(target: Target, steps: number): Promise<string> {
  const traceId = '0198c0de00007000800000000000b3c0'
  const start_ms = Date.now() - 3_600_000
  const spans = Array.from({ length: steps }, (_, at) => spanOf(traceId, start_ms, { at, steps }))
  for (let from = 0; from < steps; from += spans_per_request) {
    await send(target, spans.slice(from, from + spans_per_request))
  }
  const path = `/api/v2/observability/traces/${traceId}/explorer?limit=1&project_id=${target.project_id}`
  await eventually(
    'the trace is stored',
    async () => {
      const { body } = await target.api.get(path)
      const summary = body['summary'] as { rollup: { observations: number } } | undefined
      return summary?.rollup.observations === steps
    },
    { timeout_ms: 180_000, interval_ms: 3_000 },
  )
  return traceId
}

function spanOf(traceId: string, start_ms: number, { at, steps }: { at: number; steps: number }) {
  const parent = at === 0 ? undefined : at % 10 === 1 ? 0 : at - 1
  const length_ms = at === 0 ? steps : 2
  return {
    traceId,
    spanId: idOf(at),
    name: `step ${at % 10}`,
    kind: 1,
    ...(parent !== undefined && { parentSpanId: idOf(parent) }),
    startTimeUnixNano: `${start_ms + at}000000`,
    endTimeUnixNano: `${start_ms + at + length_ms}000000`,
  }
}

function idOf(at: number): string {
  return (at + 1).toString(16).padStart(16, '0')
}

async function send({ base_url, project_key }: Target, spans: object[]): Promise<void> {
  const body = { resourceSpans: [{ scopeSpans: [{ scope: { name: 'bench' }, spans }] }] }
  const answer = await fetch(`${base_url}/v1/traces`, {
    method: 'POST',
    headers: { 'x-api-key': project_key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
}
