import type { ScriptInput } from './scripted-provider/script.ts'

/** One task of the sample: the user's question, and the answers of the model and tools. */
export type SampleTask = {
  task_id: string
  /** X-Task-Name. */
  name: string
  conversation_id: string
  user_message: string
  steps: readonly ToolStep[]
  answer: Answer
}

/** A model call whose answer requests a tool, with the tool's result. */
type ToolStep = Call & { tool: string; arguments: Record<string, unknown>; result: unknown }

/** The model call that ends the task. */
type Answer = Call & { text: string }

type Call = {
  /** Prompt, completion and cached prompt tokens of the call. */
  tokens: readonly [prompt: number, completion: number, cached: number]
  streamed?: true
}

/** X-User-ID of all calls: lists filter by it, and an erasure of this user removes the sample. */
export const sampleUser = 'looptrace-sample'

/** System prompt of both tasks. */
export const systemPrompt =
  'You are the support agent of Kettle & Bean, a shop for coffee equipment. Look an order up ' +
  'before you speak about it, and read the policy before you promise anything.'

const text = { type: 'string' }
const tool = (name: string, description: string, properties: Record<string, unknown>) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties, required: Object.keys(properties) },
  },
})

/** The tools that the agent offers the model. */
export const sampleTools = [
  tool('look_up_order', 'One order with its items, payment and delivery.', { order_id: text }),
  tool('search_policy', 'Searches what the shop promises.', { query: text }),
  tool('issue_refund', 'Pays money back to the way it came.', {
    order_id: text,
    amount_usd: { type: 'number' },
    reason: text,
  }),
]

const question = (order_id: string) =>
  `Hello! My coffee grinder (order ${order_id}) arrived with a cracked hopper. ` +
  'Can I get my money back?'

const lookUp = (order_id: string): ToolStep => ({
  tool: 'look_up_order',
  arguments: { order_id },
  result: {
    order_id,
    placed_at: '2026-03-02',
    delivered_at: '2026-03-05',
    items: [{ name: 'Burr grinder G2', price_usd: 89, quantity: 1 }],
    payment: { method: 'card', captured_usd: 94.5 },
  },
  tokens: [318, 19, 0],
})

const searchWithoutResult = (tokens: Call['tokens'], streamed?: true): ToolStep => ({
  tool: 'search_policy',
  arguments: { query: 'refund for a cracked hopper' },
  result: { documents: [], hint: 'Policies are filed by topic, such as "damaged on arrival".' },
  tokens,
  ...(streamed && { streamed }),
})
/**
 * An agent that repeats the same search five times and gives up, and a healthy one that gets the
 * same empty result and rephrases its search.
 */
export const sampleTasks: readonly SampleTask[] = [
  {
    task_id: 'refund-1042',
    name: 'Sample: a refund, with a loop',
    conversation_id: 'sample-1042',
    user_message: question('1042'),
    steps: [
      lookUp('1042'),
      searchWithoutResult([421, 21, 0]),
      searchWithoutResult([487, 21, 384]),
      searchWithoutResult([553, 21, 448], true),
      searchWithoutResult([619, 21, 512]),
      searchWithoutResult([685, 21, 576]),
    ],
    answer: {
      text: 'I am sorry, I could not find our policy for this. A colleague will write to you.',
      tokens: [751, 22, 640],
      streamed: true,
    },
  },
  {
    task_id: 'refund-1043',
    name: 'Sample: the same refund, without one',
    conversation_id: 'sample-1043',
    user_message: question('1043'),
    steps: [
      lookUp('1043'),
      searchWithoutResult([421, 21, 0]),
      {
        tool: 'search_policy',
        arguments: { query: 'damaged on arrival' },
        result: {
          documents: [
            'Items that arrive damaged are refunded in full, with shipping, for 30 days.',
          ],
        },
        tokens: [487, 20, 384],
      },
      {
        tool: 'issue_refund',
        arguments: { order_id: '1043', amount_usd: 94.5, reason: 'damaged on arrival' },
        result: { refund_id: 'rf_5510', amount_usd: 94.5, state: 'accepted' },
        tokens: [574, 34, 448],
        streamed: true,
      },
    ],
    answer: {
      text:
        'I am sorry about the cracked hopper. I have refunded $94.50, shipping included, to your ' +
        'card; the reference is rf_5510.',
      tokens: [648, 36, 512],
      streamed: true,
    },
  },
]

/** Returns the id of the tool call that a step requests; `step` counts from 0. */
const callId = ({ task_id }: SampleTask, step: number) => `call_${task_id}_${step}`

/** Results of the tools, by the id of the call. */
export const sampleToolResults: ReadonlyMap<string, unknown> = new Map(
  sampleTasks.flatMap((task) =>
    task.steps.map(({ result }, step) => [callId(task, step), result] as const),
  ),
)

const pace = { delay_ms: 8, first_delay_ms: 60 }
const wait_ms = 70

/**
 * The scripted provider's answers to the sample. The last message alone selects a step, so several
 * runs can share one server.
 */
export const sampleScript: ScriptInput = {
  steps: sampleTasks.flatMap((task) => [
    ...task.steps.map((step, index) => {
      const { tool: name, arguments: given } = step
      const tool_calls = [{ id: callId(task, index), name, arguments: given }]
      return scripted(task, index, { ...step, reply: { tool_calls } })
    }),
    scripted(task, task.steps.length, { ...task.answer, reply: { content: task.answer.text } }),
  ]),
}

/**
 * Returns an answer of the provider: to the user's message, or to the result of the step before.
 */
function scripted(task: SampleTask, index: number, { tokens, streamed, reply }: Call & Replied) {
  const [prompt_tokens, completion_tokens, cached_tokens] = tokens
  return {
    match:
      index === 0
        ? { last_text_contains: task.user_message }
        : { last_tool_call_id: callId(task, index - 1) },
    ...(streamed ? { stream: pace } : { delay_ms: wait_ms }),
    reply: { ...reply, usage: { prompt_tokens, completion_tokens, cached_tokens } },
  }
}

type Replied = { reply: NonNullable<NonNullable<ScriptInput['steps']>[number]['reply']> }
