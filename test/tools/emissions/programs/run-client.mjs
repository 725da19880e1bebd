// A vendor's client with a loop of our own: `run-client.mjs chat|responses|messages|generate_content`.
import * as connected from './connected.mjs'
import { description, instructions, question, readFile, schema, streamed } from './stack.mjs'

const client = connected.provider
const name = 'read_file'

async function chat() {
  const messages = [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ]
  const tools = [{ type: 'function', function: { name, description, parameters: schema } }]
  const about = { model: 'gpt-5-mini', messages, tools }
  for (;;) {
    const completion = streamed
      ? await client.chat.completions.stream(about).finalChatCompletion()
      : await client.chat.completions.create(about)
    const { role, content, tool_calls = [] } = completion.choices[0].message
    if (tool_calls.length === 0) return
    const asked = tool_calls.map(({ id, type, function: { name: named, arguments: given } }) => {
      return { id, type, function: { name: named, arguments: given } }
    })
    messages.push({ role, content, tool_calls: asked })
    for (const { id, function: call } of tool_calls) {
      messages.push({
        role: 'tool',
        tool_call_id: id,
        content: readFile(JSON.parse(call.arguments)),
      })
    }
  }
}

async function responses() {
  const input = [{ role: 'user', content: question }]
  const tools = [{ type: 'function', name, description, parameters: schema, strict: true }]
  const about = { model: 'gpt-5-mini', instructions, input, tools }
  for (;;) {
    const { output } = streamed
      ? await client.responses.stream(about).finalResponse()
      : await client.responses.create(about)
    const calls = output.filter(({ type }) => type === 'function_call')
    if (calls.length === 0) return
    input.push(...output.map(({ parsed_arguments: _, ...item }) => item))
    for (const { call_id, arguments: given } of calls) {
      input.push({ type: 'function_call_output', call_id, output: readFile(JSON.parse(given)) })
    }
  }
}

async function messages() {
  const turns = [{ role: 'user', content: question }]
  const tools = [{ name, description, input_schema: schema }]
  const about = {
    model: 'claude-sonnet-4-5',
    max_tokens: 1000,
    system: instructions,
    messages: turns,
    tools,
  }
  for (;;) {
    const { content } = streamed
      ? await client.messages.stream(about).finalMessage()
      : await client.messages.create(about)
    const calls = content.filter(({ type }) => type === 'tool_use')
    if (calls.length === 0) return
    const results = calls.map(({ id, input }) => {
      return { type: 'tool_result', tool_use_id: id, content: readFile(input) }
    })
    turns.push({ role: 'assistant', content }, { role: 'user', content: results })
  }
}

async function generateContent() {
  const contents = [{ role: 'user', parts: [{ text: question }] }]
  const tools = [{ functionDeclarations: [{ name, description, parametersJsonSchema: schema }] }]
  const about = {
    model: 'gemini-2.5-flash',
    contents,
    config: { systemInstruction: instructions, tools },
  }
  for (;;) {
    let answer
    if (streamed) for await (answer of await client.models.generateContentStream(about));
    else answer = await client.models.generateContent(about)
    const { content } = answer.candidates[0]
    const calls = content.parts.flatMap(({ functionCall }) => functionCall ?? [])
    if (calls.length === 0) return
    const parts = calls.map(({ name: named, args }) => {
      return { functionResponse: { name: named, response: { result: readFile(args) } } }
    })
    contents.push(content, { role: 'user', parts })
  }
}

await { chat, responses, messages, generate_content: generateContent }[process.argv[2]]()
