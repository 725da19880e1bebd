import { beforeAll, describe, expect, test } from 'vitest'
import type { ObservationDraft } from '../../src/model/ingest-records.ts'
import { type NodeRun, nodePackages, runNodeText } from '../support/node-packages.ts'
import { type TestReceiver, testReceiver } from '../support/otlp-receiver.ts'
import { runPythonText, testPython } from '../support/python.ts'

/**
 * The newest SDKs, and the last one for Node before OpenTelemetry. `@opentelemetry/sdk-trace-node` is
 * what Langfuse's guide sets up.
 */
const packages = [
  '@langfuse/otel@5.11.1',
  '@langfuse/tracing@5.11.1',
  '@langfuse/client@5.11.1',
  '@opentelemetry/exporter-trace-otlp-http@0.223.1',
  '@opentelemetry/sdk-trace-node@2.12.1',
  'langfuse@3.39.2',
]

let folder: string
beforeAll(async () => {
  await testPython()
  folder = await nodePackages(packages)
}, 300_000)

/** Only a host and keys, as Langfuse's SDKs read them. */
function settingsFor({ url }: TestReceiver, secret = 'lt_writer'): Record<string, string> {
  return {
    LANGFUSE_HOST: url,
    LANGFUSE_BASE_URL: url,
    LANGFUSE_BASEURL: url,
    LANGFUSE_PUBLIC_KEY: 'pk-any',
    LANGFUSE_SECRET_KEY: secret,
  }
}

function rowsOf(receiver: TestReceiver): Map<string, ObservationDraft> {
  const rows = receiver.requests.flatMap(({ records }) => records.observations)
  return new Map(rows.map((row) => [row.name, row]))
}

const answer = {
  type: 'generation',
  model: 'gpt-4.1-mini',
  input_uncached_tokens: 12,
  output_visible_tokens: 3,
  cost_reported_usd: '0.001',
  conversation_external_id: 'chat-42',
  user_id: 'ada',
  task_name: 'parcel desk',
}

describe('for Python', () => {
  const program = `
from langfuse import get_client, observe, propagate_attributes

client = get_client()
print("auth", client.auth_check())

@observe()
def desk(question):
    with propagate_attributes(session_id="chat-42", user_id="ada", trace_name="parcel desk"):
        messages = [{"role": "user", "content": question}]
        with client.start_as_current_observation(
            as_type="generation", name="answer", model="gpt-4.1-mini", input=messages
        ) as call:
            call.update(
                output="Parcel 7 left.",
                usage_details={"input": 12, "output": 3},
                cost_details={"total": 0.001},
            )
        with client.start_as_current_observation(as_type="tool", name="lookup", input={"id": 7}) as tool:
            tool.update(output={"at": "Zürich"})
        client.score_current_trace(name="good", value=1)
    return "done"

desk("Where is parcel 7?")
try:
    client.get_prompt("absent", max_retries=0)
except Exception as error:
    print("prompt", error)
client.flush()
client.shutdown()
print("ended")
`

  test('a host and keys are enough', async () => {
    await using receiver = await testReceiver()
    const output = await runPythonText(program, settingsFor(receiver))
    expect(output).toContain('auth True')
    expect(output).toContain(
      'There is no /api/public/v2/prompts/absent. Looptrace takes the traces',
    )
    expect(output).toContain('ended')
    const rows = rowsOf(receiver)
    expect([...rows.keys()].toSorted()).toEqual(['answer', 'desk', 'lookup'])
    expect(rows.get('answer')).toMatchObject(answer)
    expect(rows.get('lookup')).toMatchObject({
      type: 'tool',
      conversation_external_id: 'chat-42',
      tool_calls: [{ name: 'lookup', arguments: '{"id": 7}' }],
      parent_observation_id: rows.get('desk')?.observation_id,
    })
    expect(new Set([...rows.values()].map(({ trace_id }) => trace_id)).size).toBe(1)
    expect(rows.get('answer')?.environment).toBe('')
  })
})

const nodeProgram = `
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import { propagateAttributes, startActiveObservation, startObservation } from '@langfuse/tracing'
import { LangfuseClient } from '@langfuse/client'

const processor = new LangfuseSpanProcessor()
const provider = new NodeTracerProvider({ spanProcessors: [processor] })
provider.register()
await propagateAttributes({ sessionId: 'chat-42', userId: 'ada', traceName: 'parcel desk' }, () =>
  startActiveObservation('desk', async (span) => {
    span.update({ input: 'Where is parcel 7?' })
    const input = [{ role: 'user', content: 'Where is parcel 7?' }]
    const call = startObservation('answer', { model: 'gpt-4.1-mini', input }, { asType: 'generation' })
    const output = { role: 'assistant', content: 'Parcel 7 left.' }
    call.update({ output, usageDetails: { input: 12, output: 3 }, costDetails: { total: 0.001 } }).end()
    span.update({ output: 'Parcel 7 left.' })
  }),
)
const client = new LangfuseClient()
client.score.create({ traceId: 'a'.repeat(32), name: 'good', value: 1 })
await client.flush()
await client.prompt.get('absent').catch((error) => console.log('prompt', error.message))
await processor.forceFlush()
await provider.shutdown()
console.log('ended')
`

describe('for Node', () => {
  function run(receiver: TestReceiver, text: string, secret?: string): Promise<NodeRun> {
    return runNodeText(folder, text, settingsFor(receiver, secret))
  }

  test('a host and keys are enough, and the process ends by itself', async () => {
    await using receiver = await testReceiver()
    const { status, output } = await run(receiver, nodeProgram)
    expect(output).toContain(
      'There is no /api/public/v2/prompts/absent. Looptrace takes the traces',
    )
    expect(output).toContain('ended')
    expect(status).toBe(0)
    const rows = rowsOf(receiver)
    expect([...rows.keys()].toSorted()).toEqual(['answer', 'desk'])
    expect(rows.get('answer')).toMatchObject({
      ...answer,
      parent_observation_id: rows.get('desk')?.observation_id,
    })
  })

  test('the SDK before OpenTelemetry says what to set, and ends its process normally', async () => {
    await using receiver = await testReceiver()
    const program = `
import { Langfuse } from 'langfuse'
const client = new Langfuse({ fetchRetryDelay: 10 })
client.on('error', (error) => console.log('error', error))
client.trace({ name: 'desk' }).generation({ name: 'answer' }).end({ output: 'x' })
await client.shutdownAsync()
console.log('ended')
`
    const { status, output } = await run(receiver, program)
    expect(output).toContain('Nothing of this batch was stored. Looptrace takes the traces')
    expect(output).toContain('ended')
    expect(status).toBe(0)
    expect(receiver.requests).toEqual([])
    const refused =
      'looptrace_otlp_items_total{signal="langfuse_ingestion",result="ingestion_unsupported"}'
    // The SDK repeats the whole batch a few times.
    const items = (await receiver.counted(refused)) ?? 0
    expect([items > 0, items % 3]).toEqual([true, 0])
  })
})
