import type { ScriptInput } from './scripted-provider/index.ts'

/** One task of the sample. */
export type SampleTask = {
  /** The task id begins with it. */
  slug: string
  name: string
  user_message: string
  /** Which of its model calls are streamed, counted from 1. */
  streamed_calls: readonly number[]
}

/**
 * The tasks of the sample's one conversation: a damaged delivery (two look-ups, a refund that fails
 * first, six calls), and a question about it afterwards (two calls).
 */
export const sampleTasks: readonly SampleTask[] = [
  {
    slug: 'refund-1042',
    name: 'Refund for order 1042',
    user_message:
      'Hello! My coffee grinder (order 1042) arrived with a cracked hopper. ' +
      'Can I get my money back?',
    streamed_calls: [3, 6],
  },
  {
    slug: 'refund-1042-when',
    name: 'When will the refund arrive?',
    user_message: 'Thank you! And when will the money be on my account?',
    streamed_calls: [],
  },
]

/** What the agent is told before each task. */
export const systemPrompt =
  'You are the support agent of Kettle & Bean, a shop for coffee equipment. Look an order up ' +
  'before you speak about it, read the policy before you promise anything, and when a tool ' +
  'fails, find out whether it took effect before you try again. Answer in two or three sentences.'

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
  tool('read_policy', 'What the shop promises on a topic.', { topic: text }),
  tool('issue_refund', 'Pays money back to the way it came.', {
    order_id: text,
    amount_usd: { type: 'number' },
    reason: text,
  }),
  tool('refund_status', 'The refunds of an order.', { order_id: text }),
]

/** What the tools answer, by the id of the call: the first refund runs into a time-out. */
export const sampleToolResults: Readonly<Record<string, unknown>> = {
  call_sample_order: {
    order_id: '1042',
    placed_at: '2026-03-02',
    delivered_at: '2026-03-05',
    items: [{ name: 'Burr grinder G2', price_usd: 89, quantity: 1 }],
    payment: { method: 'card', captured_usd: 94.5 },
  },
  call_sample_policy: {
    topic: 'damaged on arrival',
    days: 30,
    text: 'Items that arrive damaged are refunded in full, shipping included, within 30 days.',
  },
  call_sample_refund: { error: 'gateway_timeout', detail: 'No answer in 10 s; it may have run.' },
  call_sample_status: { order_id: '1042', refunds: [] },
  call_sample_retry: { refund_id: 'rf_5510', amount_usd: 94.5, state: 'accepted' },
  call_sample_later: { refunds: [{ refund_id: 'rf_5510', state: 'sent', bank_days: '3 to 5' }] },
}

const order = { order_id: '1042' }
const refund = { ...order, amount_usd: 94.5, reason: 'damaged on arrival' }
const pace = { delay_ms: 8, first_delay_ms: 60 }

/**
 * What the scripted provider answers to the sample. Each step is found by what the last message
 * brings, so that many runs may share one server.
 */
export const sampleScript: ScriptInput = {
  steps: [
    {
      match: { last_text_contains: 'order 1042' },
      delay_ms: 90,
      reply: {
        tool_calls: [{ id: 'call_sample_order', name: 'look_up_order', arguments: order }],
        usage: { prompt_tokens: 318, completion_tokens: 19 },
      },
    },
    {
      match: { last_tool_call_id: 'call_sample_order' },
      delay_ms: 70,
      reply: {
        tool_calls: [
          {
            id: 'call_sample_policy',
            name: 'read_policy',
            arguments: { topic: 'damaged on arrival' },
          },
        ],
        usage: { prompt_tokens: 421, completion_tokens: 18 },
      },
    },
    {
      match: { last_tool_call_id: 'call_sample_policy' },
      stream: pace,
      reply: {
        content: 'The grinder came damaged and is within the 30 days: I refund it in full.',
        tool_calls: [{ id: 'call_sample_refund', name: 'issue_refund', arguments: refund }],
        usage: { prompt_tokens: 1187, completion_tokens: 61, cached_tokens: 1024 },
      },
    },
    {
      match: { last_tool_call_id: 'call_sample_refund' },
      delay_ms: 80,
      reply: {
        content: 'The gateway did not answer. Before I try again I look whether it ran.',
        tool_calls: [{ id: 'call_sample_status', name: 'refund_status', arguments: order }],
        usage: { prompt_tokens: 1290, completion_tokens: 37, cached_tokens: 1152 },
      },
    },
    {
      match: { last_tool_call_id: 'call_sample_status' },
      delay_ms: 60,
      reply: {
        tool_calls: [{ id: 'call_sample_retry', name: 'issue_refund', arguments: refund }],
        usage: { prompt_tokens: 1361, completion_tokens: 34, cached_tokens: 1280 },
      },
    },
    {
      match: { last_tool_call_id: 'call_sample_retry' },
      stream: pace,
      reply: {
        content:
          'I am sorry about the cracked hopper. I have refunded $94.50, shipping included, to ' +
          'your card (reference rf_5510); you need not send the grinder back.',
        usage: { prompt_tokens: 1436, completion_tokens: 42, cached_tokens: 1280 },
      },
    },
    {
      match: { last_text_contains: 'on my account' },
      delay_ms: 70,
      reply: {
        tool_calls: [{ id: 'call_sample_later', name: 'refund_status', arguments: order }],
        usage: { prompt_tokens: 395, completion_tokens: 16 },
      },
    },
    {
      match: { last_tool_call_id: 'call_sample_later' },
      delay_ms: 80,
      reply: {
        content: 'It left us today. Banks take 3 to 5 working days to book a card refund.',
        usage: { prompt_tokens: 463, completion_tokens: 20 },
      },
    },
  ],
}
