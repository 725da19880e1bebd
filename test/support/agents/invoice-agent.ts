import OpenAI from 'openai'
import type { ScriptInput } from '../../../src/capabilities/demo/index.ts'
import { type AgentRun, runAgent } from './tool-agent.ts'

/** Result of the tool that the agent calls about an invoice. */
export const invoiceText = (id: string) =>
  `Invoice ${id}: the amount is $1,249.50, due on 14 March 2026. Payment goes to Lund & Søn 🧾.`

const seen = (id: string) => `Invoice ${id}: the amount is $1,249.50, due on 14 March 2026.`
/** A paraphrase that words do not decide: a judge is asked about it. */
const open = 'Lund & Søn wants the money in spring.'
/** The 🧾 makes UTF-16 offsets differ from characters and from bytes. */
const invented = '🧾 You have already paid $900.00 of it.'

/** The invented value of the answer. */
export const inventedValue = '$900.00'

/** An agent that asks a tool for an invoice, and what it answers. */
export type InvoiceAgent = { id: string; claims: { seen: string; open: string }; answer: string }

/** Describes an agent whose answer cites a figure of the tool; `ill` adds one that nothing has. */
export function invoiceAgent(id: string, { ill }: { ill: boolean }): InvoiceAgent {
  const sentences = [seen(id), open, ...(ill ? [invented] : [])]
  return { id, claims: { seen: seen(id), open }, answer: sentences.join(' ') }
}

/** Returns the steps by which a scripted provider plays the agents, each any number of times. */
export function invoiceSteps(agents: readonly InvoiceAgent[]): NonNullable<ScriptInput['steps']> {
  return agents.flatMap(({ id, answer }) => [
    { match: { any_text_contains: invoiceText(id) }, reply: { content: answer } },
    {
      match: { any_text_contains: id },
      reply: { content: null, tool_calls: [{ name: 'get_invoice', arguments: { id } }] },
    },
  ])
}

/** Runs an agent as one task, through the proxy with the openai package. */
export async function runInvoiceAgent(
  { base_url, project_key }: { base_url: string; project_key: string },
  { id }: InvoiceAgent,
  { task_id, headers = {} }: { task_id: string; headers?: Record<string, string> },
): Promise<void> {
  const client = new OpenAI({
    baseURL: `${base_url}/v1`,
    apiKey: 'provider-key-of-the-agent',
    defaultHeaders: { 'X-API-Key': project_key, 'X-Task-ID': task_id, ...headers },
  })
  const run: AgentRun = {
    system: 'You answer questions about invoices.',
    turns: [`What does invoice ${id} say?`],
    tools: { get_invoice: (given) => invoiceText(String(given['id'])) },
    calls_max: 3,
  }
  await runAgent(client, run)
}
