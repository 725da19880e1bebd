import { describe, expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import type { TaskRun, ToolUse } from '../contract.ts'
import { createReconstruction, reconstruct } from '../reconstruction.ts'

const labels =
  'Thought, Action, Observation. Tools: search[query], ask_user[question], finish[answer].'

function shown({ tools }: TaskRun) {
  return tools.map(({ step, name, arguments: args, result, read_from }) => {
    return [step, name, args, result, read_from]
  })
}

function asked(run: AgentRun): AgentRun {
  return run
    .system(labels)
    .user('When was the weir built?')
    .assistant('Thought: look.\nAction: search[weir]')
    .user('Observation: built 1841')
    .assistant('Thought: I know.\nAction: finish[1841]')
}

describe('actions that an agent writes as text', () => {
  test('are tool uses with the result of the next message', () => {
    const run = reconstruct(asked(agentRun('text')).observations())
    expect(shown(run)).toEqual([
      [0, 'search', '{"input":"weir"}', 'built 1841', 'text'],
      [1, 'finish', '{"input":"1841"}', null, 'text'],
    ])
    expect(run.steps.map(({ after_user }) => after_user)).toEqual([true, false])
    expect(run.messages[3]).toMatchObject({ role: 'user', is_harness: true })
  })

  test('a result needs no mark if the instructions ask for actions', () => {
    const run = agentRun('plain')
      .system('Run shell commands by a fenced sh block. The output comes in the next message.')
      .user('Deploy it.')
      .assistant('```sh\n./deploy.sh\n```')
      .user('error: timed out')
      .assistant('The deployment timed out.')
    expect(reconstruct(run.observations()).tools).toMatchObject([
      { name: 'sh', result: 'error: timed out', fault: 'outage', read_from: 'text' },
    ])
  })

  test('a person answers the question of a tool, and stays the user', () => {
    const run = agentRun('ask')
      .system(labels)
      .user('Book it.')
      .assistant('Action: ask_user[which day?]')
      .user('on Monday')
      .assistant('Monday it is.')
    const { tools, steps, messages } = reconstruct(run.observations())
    expect(tools).toMatchObject([{ name: 'ask_user', result: 'on Monday' }])
    expect(steps.map(({ after_user }) => after_user)).toEqual([true, true])
    expect(messages[3]?.is_harness).toBeUndefined()
  })

  test('after an action that delivers the answer, a person speaks', () => {
    const run = asked(agentRun('next')).user('And who built it?').assistant('A miller.')
    const { tools, steps, messages } = reconstruct(run.observations())
    expect(tools[1]).toMatchObject({ name: 'finish', result: null, orphan: null })
    expect(steps.map(({ after_user }) => after_user)).toEqual([true, false, true])
    expect(messages[5]?.is_harness).toBeUndefined()
  })

  test('an observation of the same text is its result', () => {
    const run = agentRun('own')
      .system(labels)
      .user('Which?')
      .assistant('Action: search[a]\nObservation: 1\nThought: b\nAction: search[b]\nObservation: 2')
    expect(shown(reconstruct(run.observations())).map(([, , , result]) => result)).toEqual([
      '1',
      '2',
    ])
  })

  test('no result is missing if the agent goes on without one', () => {
    const run = agentRun('on')
      .system(labels)
      .user('Which?')
      .assistant('Action: search[a]')
      .assistant('Action: search[b]')
      .user('Observation: 2')
      .assistant('It is b.')
    const uses = reconstruct(run.observations()).tools
    expect(uses.map(({ result, orphan }: ToolUse) => [result, orphan])).toEqual([
      [null, null],
      ['2', null],
    ])
  })

  test('batches give the same run', () => {
    const rows = asked(agentRun('batches')).observations()
    const { project_id, task_id, conversation_id } = reconstruct(rows)
    const grown = createReconstruction({ project_id, task_id, conversation_id })
    for (const row of rows) grown.add([row])
    expect(grown.run()).toEqual(reconstruct(rows))
  })
})

describe('what is not an action', () => {
  test('a command for the user, without instructions', () => {
    const run = agentRun('help')
      .user('How do I undo a commit?')
      .assistant('```bash\ngit reset --soft HEAD~1\n```')
      .user('and if it is pushed')
      .assistant('```bash\ngit revert HEAD\n```')
      .user('thanks')
      .assistant('You are welcome.')
    const { tools, steps } = reconstruct(run.observations())
    expect(tools).toEqual([])
    expect(steps.every(({ after_user }) => after_user)).toBe(true)
  })

  test('a block of an agent that declares its tools', () => {
    const run = agentRun('declared', { tools: ['run'] })
      .system('Run commands by a ```bash block. The output follows.')
      .user('How do I list files?')
      .assistant('```bash\nls\n```')
      .user('a.txt')
      .assistant('One file.')
    expect(reconstruct(run.observations()).tools).toEqual([])
  })

  test('a block that the instructions only name, before words of a person', () => {
    expect(usesOf('ops helper, ```sh', ['what does grep do?', 'max_connections = 100'])).toEqual([])
    expect(usesOf('ops helper, ```sh', ['max_connections = 100'])).toEqual([])
  })

  test.each([
    'You are a DevOps helper. You help engineers run commands on Linux. Put each command in a ```bash block.',
    'Give one command per answer in a fenced bash code block',
    'Return exactly one bash code block',
  ])('a command for the user: %s', (instructions) => {
    const texts = ['It says permission denied.', 'And how do I restart it?', 'thanks']
    expect(usesOf(instructions, texts)).toEqual([])
  })

  test('decisions about tickets of customers', () => {
    const tickets = ['My parcel is late.', '{"ticket":2,"text":"late"}', '{"ticket":3}', 'Late!']
    const instructions =
      'You decide how support tickets are handled. Reply in JSON only: {"action": "refund|escalate|close", "reason": "..."}'
    const run = tickets.reduce(
      (all, ticket) => all.user(ticket).assistant('{"action":"refund","reason":"late"}'),
      agentRun('tickets').system(instructions),
    )
    const { tools, messages } = reconstruct(run.observations())
    expect(tools).toEqual([])
    expect(messages.some(({ is_harness }) => is_harness === true)).toBe(false)
  })
})

describe('a block that the instructions only name', () => {
  test('is an action once two outputs followed, the first block too', () => {
    const run = shellRun('ops helper, ```sh', ['max_connections = 100', '(no output)'])
    const { tools, steps, messages } = reconstruct(run.observations())
    expect(tools.map(({ step, result }) => [step, result])).toEqual([
      [0, 'max_connections = 100'],
      [1, '(no output)'],
    ])
    expect(steps.map(({ after_user }) => after_user)).toEqual([true, false, false])
    expect(messages.map(({ is_harness }) => is_harness === true)).toEqual([
      ...[false, false, false, true, false, true, false],
    ])
  })

  test('batches give the same run', () => {
    const rows = shellRun('ops helper, ```sh', ['a = 1', 'b = 2', 'done']).observations()
    const { project_id, task_id, conversation_id } = reconstruct(rows)
    const grown = createReconstruction({ project_id, task_id, conversation_id })
    for (const row of rows) grown.add([row])
    expect(grown.run()).toEqual(reconstruct(rows))
  })
})

/** An agent that answers with a block before each of some texts, and at last with words. */
function shellRun(instructions: string, texts: readonly string[]): AgentRun {
  const begin = agentRun('shell').system(instructions).user('Where is the limit?')
  return texts
    .reduce(
      (run, text, at) => run.assistant(`\`\`\`bash\ngrep max /etc/${at}.conf\n\`\`\``).user(text),
      begin,
    )
    .assistant('It is 100.')
}

function usesOf(instructions: string, texts: readonly string[]): readonly ToolUse[] {
  return reconstruct(shellRun(instructions, texts).observations()).tools
}
