import {
  type PlayedAgent,
  type ScenarioAgent,
  scenarioAgents,
  scenarioIds,
} from '../onboarding/index.ts'
import { type ChatMessage, type ChatTarget, chatCall } from './chat-call.ts'
import { callsOf, toolResults, toolsOf } from './scenario-script.ts'

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
