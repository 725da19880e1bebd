/** A tool that the scripted provider calls again and again, with `loopScript`. */
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]

/** A script of the provider that asks for the same tool call each time. */
export const loopScript = {
  steps: [{ reply: { tool_calls: [{ name: 'look', arguments: { id: 7 } }] } }],
}

type Message = { role: string; tool_calls?: { id: string }[] }

/** Runs an agent that repeats one tool call, as the scripted provider asks it to. */
export async function runLoop(url: string, headers: Record<string, string>): Promise<void> {
  const messages: object[] = [{ role: 'user', content: 'Where is the order?' }]
  for (let lap = 0; lap < 5; lap += 1) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4.1-mini', messages, tools }),
    })
    const { choices } = (await answer.json()) as { choices: { message: Message }[] }
    const message = choices[0]?.message ?? { role: 'assistant' }
    const results = (message.tool_calls ?? []).map(({ id: tool_call_id }) => {
      return { role: 'tool', tool_call_id, content: 'nothing' }
    })
    messages.push(message, ...results)
  }
}
