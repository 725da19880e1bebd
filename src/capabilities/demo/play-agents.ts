import {
  type PlayedAgent,
  type ScenarioAgent,
  scenarioAgents,
  scenarioIds,
} from '../onboarding/index.ts'
import { type ChatMessage, type ChatTarget, chatCall } from './chat-call.ts'
import type { ScriptInput } from './scripted-provider/script.ts'

/** Model of all calls. It has no price, so that the scenario adds no cost to the project. */
const model = 'looptrace-scripted'

/**
 * Plays all agents at once, each as one task, through a proxy that has `scenarioScript` behind it.
 * Throws ChatCallFailed.
 */
export function playAgents(target: ChatTarget, run_id: string): Promise<PlayedAgent[]> {
  const ids = scenarioIds(run_id)
  return Promise.all(
    scenarioAgents.map(async (agent) => {
      const task_id = ids.taskIdOf(agent.name)
      const headers = {
        ...target.headers,
        'x-task-id': task_id,
        'x-task-name': `Onboarding scenario: ${agent.name}`,
        'x-conversation-id': task_id,
        'x-user-id': ids.user_id,
      }
      const played = await playAgent({ ...target, headers }, agent)
      return { name: agent.name, task_id, ...played }
    }),
  )
}

async function playAgent(
  target: ChatTarget,
  agent: ScenarioAgent,
): Promise<{ calls: number; trace_id: string }> {
  const messages: ChatMessage[] = [{ role: 'system', content: agent.system }]
  const calls_max = callsOf(agent)
  let calls = 0
  let trace_id = ''
  const onTrace = (id: string) => {
    trace_id = id
  }
  for (const { user } of agent.turns) {
    messages.push({ role: 'user', content: user })
    while (calls < calls_max) {
      const body = { model, messages, tools: toolsOf(agent), stream: false }
      const message = await chatCall({ ...target, onTrace }, body)
      calls += 1
      messages.push(message)
      if (!message.tool_calls?.length) break
      messages.push(
        ...message.tool_calls.map(
          ({ id }): ChatMessage => ({
            role: 'tool',
            tool_call_id: id,
            content: toolResults.get(id) ?? '',
          }),
        ),
      )
    }
  }
  return { calls, trace_id }
}

const stepsOf = ({ turns }: ScenarioAgent) => turns.flatMap(({ steps = [] }) => steps)

/** Returns the definitions of the tools of an agent, as it sends them with each call. */
function toolsOf(agent: ScenarioAgent): unknown[] | undefined {
  const used = new Map(stepsOf(agent).map((step) => [step.tool, step.arguments]))
  if (used.size === 0) return undefined
  return [...used].map(([name, given]) => {
    const properties = Object.fromEntries(
      Object.keys(given).map((field) => [field, { type: 'string' }]),
    )
    return { type: 'function', function: { name, parameters: { type: 'object', properties } } }
  })
}

const callId = ({ name }: ScenarioAgent, turn: number, step: number) =>
  `call_${name}_${turn}_${step}`

/** Results of all tool calls, by the id of the call. */
const toolResults: ReadonlyMap<string, string> = new Map(
  scenarioAgents.flatMap((agent) =>
    agent.turns.flatMap(({ steps = [] }, turn) =>
      steps.map(({ result }, step) => [callId(agent, turn, step), result] as const),
    ),
  ),
)

/** Number of model calls of an agent. */
function callsOf(agent: ScenarioAgent): number {
  return stepsOf(agent).length + agent.turns.length
}

/** The answers of the scripted provider. The last message alone selects a step. */
export const scenarioScript: ScriptInput = {
  steps: scenarioAgents.flatMap((agent) =>
    agent.turns.flatMap(({ user, steps = [], answer }, turn) =>
      Array.from({ length: steps.length + 1 }, (_, at) => {
        const step = steps[at]
        const match =
          at === 0
            ? { last_role: 'user', last_text_contains: user }
            : { last_tool_call_id: callId(agent, turn, at - 1) }
        if (step === undefined) return { match, reply: { content: answer } }
        const call = { id: callId(agent, turn, at), name: step.tool, arguments: step.arguments }
        return { match, reply: { tool_calls: [call] } }
      }),
    ),
  ),
}
