import type OpenAI from 'openai'

/** A tool of an agent: returns a result for the arguments that the model wrote. */
type AgentTool = (given: Record<string, unknown>) => string

/** One run of an agent. */
export type AgentRun = {
  system: string
  /** User messages in order; the agent works on each until the model asks for no tool. */
  turns: readonly string[]
  tools: Readonly<Record<string, AgentTool>>
  /** Maximum model calls per turn. */
  calls_max: number
}

/**
 * A small agent with tools, as people write it with the openai package: it sends the whole history
 * with each call, runs the tools that the model asks for, and continues until the model asks for
 * none. Resolves with the number of its model calls.
 */
export async function runAgent(client: OpenAI, run: AgentRun): Promise<number> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: run.system }]
  let calls = 0
  for (const content of run.turns) {
    messages.push({ role: 'user', content })
    for (let call = 0; call < run.calls_max; call += 1) {
      calls += 1
      const { choices } = await client.chat.completions.create({
        model: 'gpt-4.1-mini',
        messages,
        tools: declared(run.tools),
      })
      const message = choices[0]?.message
      if (message === undefined) throw new Error('the provider gave no choice')
      messages.push(message)
      if (!message.tool_calls?.length) break
      messages.push(...message.tool_calls.map((asked) => resultOf(run.tools, asked)))
    }
  }
  return calls
}

function declared(tools: AgentRun['tools']): OpenAI.ChatCompletionTool[] {
  return Object.keys(tools).map((name) => ({
    type: 'function',
    function: { name, parameters: { type: 'object' } },
  }))
}

function resultOf(
  tools: AgentRun['tools'],
  asked: OpenAI.ChatCompletionMessageToolCall,
): OpenAI.ChatCompletionToolMessageParam {
  if (asked.type !== 'function') throw new Error(`no function: ${asked.type}`)
  const { name, arguments: text } = asked.function
  const tool = tools[name]
  if (tool === undefined) throw new Error(`the model asked for ${name}, which the agent lacks`)
  return { role: 'tool', tool_call_id: asked.id, content: tool(JSON.parse(text)) }
}
