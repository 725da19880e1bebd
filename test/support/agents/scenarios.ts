import type { ScriptInput } from '../../../src/capabilities/demo/index.ts'
import type { AgentRun } from './tool-agent.ts'

/** A failing run and a healthy one that differs as little as possible. */
export type Scenario = {
  name: string
  /** The failing run, and what the API reports about it. */
  ill: { run: AgentRun; finding: { kind: string; type: string; start_step: number } }
  healthy: AgentRun
}

type Answer = { text: string } | { tool: string; given: Record<string, unknown> }

const steps: NonNullable<ScriptInput['steps']> = []

/**
 * Makes the provider answer a run in this order. A word that only its first turn has identifies the
 * run.
 */
function answered(run: AgentRun, answers: readonly Answer[]): AgentRun {
  const any_text_contains = run.turns[0] ?? ''
  for (const answer of answers) {
    const reply =
      'text' in answer
        ? { content: answer.text }
        : { content: null, tool_calls: [{ name: answer.tool, arguments: answer.given }] }
    steps.push({ match: { any_text_contains }, times: 1, reply })
  }
  return run
}

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index))

const calls_max = 12

const searches = (pages: (given: Record<string, unknown>) => string) => ({ search_docs: pages })

const loop: Scenario = {
  name: 'a loop',
  ill: {
    run: answered(
      {
        system: 'You answer questions about our shop from its documents.',
        turns: ['How long do refunds take for order 17?'],
        tools: searches(() => 'No documents found for this search.'),
        calls_max,
      },
      [
        ...times(6, () => ({ tool: 'search_docs', given: { query: 'refund time' } })),
        { text: 'I could not find how long refunds take.' },
      ],
    ),
    finding: { kind: 'loop', type: 'repeat_call', start_step: 0 },
  },
  healthy: answered(
    {
      system: 'You answer questions about our shop from its documents.',
      turns: ['How long do refunds take for order 18?'],
      tools: searches(({ page }) => `Page ${page} of 6: chapter ${Number(page) * 3} of the terms.`),
      calls_max,
    },
    [
      ...times(6, (page) => ({
        tool: 'search_docs',
        given: { query: 'refund time', page: page + 1 },
      })),
      { text: 'Chapter 18 of the terms says that refunds take five days.' },
    ],
  ),
}

const saves = { save_report: ({ folder }: Record<string, unknown>) => saved(folder) }

function saved(folder: unknown): string {
  if (folder === 'shared') return '{"error": "permission denied: /shared is read-only"}'
  return '{"saved": "/home/report.pdf", "bytes": 18231}'
}

const failure: Scenario = {
  name: 'an unrecovered failure',
  ill: {
    run: answered(
      {
        system: 'You write reports and save them.',
        turns: ['Save the report of week 12 in the shared folder.'],
        tools: saves,
        calls_max,
      },
      [
        { tool: 'save_report', given: { folder: 'shared', week: 12 } },
        { text: 'Done. I have saved the report of week 12 successfully.' },
      ],
    ),
    finding: { kind: 'failure', type: 'false_success', start_step: 1 },
  },
  healthy: answered(
    {
      system: 'You write reports and save them.',
      turns: ['Save the report of week 13 in the shared folder, else at home.'],
      tools: saves,
      calls_max,
    },
    [
      { tool: 'save_report', given: { folder: 'shared', week: 13 } },
      { tool: 'save_report', given: { folder: 'home', week: 13 } },
      { text: 'Done. I have saved the report of week 13 in your home folder.' },
    ],
  ),
}

const context: Scenario = {
  name: 'a forgotten constraint',
  ill: {
    run: answered(
      {
        system: 'You help customers of a bank. Never use the word "guarantee".',
        turns: ['What does the savings account of branch 5 pay?', 'And is my money safe there?'],
        tools: {},
        calls_max,
      },
      [
        { text: 'It pays 2.1 percent a year.' },
        { text: 'Yes. We guarantee that your money is safe.' },
      ],
    ),
    finding: { kind: 'context', type: 'lost_context', start_step: 1 },
  },
  healthy: answered(
    {
      system: 'You help customers of a bank. Never use the word "guarantee".',
      turns: ['What does the savings account of branch 6 pay?', 'And is my money safe there?'],
      tools: {},
      calls_max,
    },
    [
      { text: 'It pays 2.1 percent a year.' },
      { text: 'Yes. Deposits up to 100,000 are insured by law.' },
    ],
  ),
}

export const scenarios: readonly Scenario[] = [loop, failure, context]

/** The scripted provider's answers to the scenarios. */
export const scenarioScript: ScriptInput = { steps }
