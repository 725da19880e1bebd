import type { AgentRun, CallOption } from './agent-run.ts'
import { healthy, ill, type LabelledRun, loop } from './labelled-run.ts'

const lost = 'The parcel is unknown.'
const retry = `Now let's retry: take care not to repeat previous errors!`
const names = ['main', 'next', 'fix-app', 'release', 'hotfix']

/**
 * Agents whose harness writes texts in the name of the user: results of tools, and reminders after
 * each step. Beside them, people who write alike.
 */
export const harnessRuns: readonly LabelledRun[] = [
  ill(
    'harness: results are written as observations, with the calls as text',
    [loop('repeat_call')],
    (run) => {
      run.system('You are an expert assistant.').user('New task:\nWhere is the parcel 4711?').mark()
      return run.times(8, (again) => written(again, { name: 'track', args: { id: '4711' } }, lost))
    },
    { tools: ['track', 'final_answer'] },
  ),
  ill(
    'harness: an agent that writes code, whose observations are texts',
    [loop('repeat_call')],
    (run) => {
      run.system('You write code.').user('New task:\nWhere is the parcel 4711?').mark()
      return run.times(6, (again) => coded(again, 'print(track("4711"))', 'no such parcel'))
    },
  ),
  ill('harness: an agent that writes code fails the same way', [loop('repeat_error')], (run) => {
    run.system('You write code.').user('New task:\nAdd up the prices.').mark()
    return run.times(4, (again) =>
      coded(again, 'print(sum(prices))', `NameError: name 'prices' is not defined`, 'Error'),
    )
  }),
  ill(
    'harness: actions and observations in the answers of the agent',
    [loop('repeat_call')],
    (run) => {
      run.system('Use Thought, Action, Action Input.').user('Who wrote the letter?').mark()
      return run.times(5, (again) =>
        acted(again, 'search', '{"query": "letter"}', 'Nothing was found.'),
      )
    },
  ),
  ill(
    'harness: a reminder of the step after each result',
    [loop('repeat_call')],
    (run) => {
      run.system('You fix code.').user('Fix the failing test.').mark()
      return run.times(8, (again, at) =>
        again
          .tool({ name: 'read_file', args: { path: 'src/app.ts' } }, 'file not found')
          .user(`[system reminder] step ${at + 1} of 50`),
      )
    },
    { tools: ['read_file'] },
  ),
  ill(
    'harness: a reminder in tags after each result',
    [loop('repeat_call')],
    (run) => {
      run.system('You fix code.').user('Fix the failing test.').mark()
      return run.times(4, (again, at) =>
        again
          .tool({ name: 'read_file', args: { path: 'src/app.ts' } }, 'file not found')
          .user(`<system-reminder>\nThe list has ${9 - at} open items.\n</system-reminder>`),
      )
    },
    { tools: ['read_file'] },
  ),
  ill(
    'harness: a reminder that each call replaces',
    [loop('repeat_call')],
    (run) => {
      run.system('You fix code.').user('Fix the failing test.').mark()
      return run.times(8, (again, at) => {
        again.tool({ name: 'read_file', args: { path: 'src/app.ts' } }, 'file not found')
        again.edit((history) => history.filter(({ content }) => !content?.startsWith('You have ')))
        return again.user(`You have ${49 - at} steps remaining. Answer as soon as you can.`)
      })
    },
    { tools: ['read_file'] },
  ),
  ill(
    'harness: the same sentence after each result, and a person at last',
    [loop('repeat_call')],
    (run) => {
      run.system('You fix code.').user('Fix the failing test.').mark()
      run.times(6, (again) =>
        again
          .tool({ name: 'read_file', args: { path: 'src/app.ts' } }, 'file not found')
          .user('Continue with the task. Use the tools, and do not ask the user for help.'),
      )
      return run.assistant('The file does not exist.').user('Then create it.').assistant('Created.')
    },
    { tools: ['read_file'] },
  ),
  ill(
    'harness: a prompt that grows by the answer and its observation',
    [loop('repeat_call')],
    (run) => {
      const question = 'Answer the question with the tools.\n\nQuestion: Who wrote it?\nThought:'
      run.user(question).mark()
      return run.times(5, (again) => grown(again, 'search', 'letter', 'Nothing was found.'))
    },
  ),
  ill('harness: a browser whose page stays the same', [loop('repeat_call')], (run) => {
    run.system('You use a browser.').user(pageOf('', 'A page with one button.')).mark()
    return run.times(5, (again, at) => clicked(again, at, 'A page with one button.'))
  }),
  healthy('harness: a prompt that grows by other observations', (run) => {
    run.user('Answer the question with the tools.\n\nQuestion: Who wrote it?\nThought:')
    return run
      .times(5, (again, at) =>
        grown(again, 'search', `letter ${at}`, `Letter ${at} is by ${names[at]}.`),
      )
      .assistant('The letters are by five branches.')
  }),
  healthy('harness: a talk with a person in one prompt', (run) => {
    run.user('A talk.\nUser: Hello\nAssistant:')
    return run.times(5, (again) => {
      const answer = 'Please say more about it.'
      again.assistant({ text: answer, kept: false })
      return again.edit(([prompt]) => [
        { role: 'user', content: `${prompt?.content} ${answer}\nUser: It is green.\nAssistant:` },
      ])
    })
  }),
  healthy('harness: a browser whose page changes', (run) => {
    run.system('You use a browser.').user(pageOf('', 'Page 0.'))
    return run.times(5, (again, at) => clicked(again, at, `Page ${at + 1}, about ${names[at]}.`))
  }),
  healthy(
    'harness: a person asks for the same thing again and again',
    (run) => {
      run.system('You watch orders.')
      return run.times(6, (again) =>
        again
          .user('What is the state of order 4711, please?')
          .tool({ name: 'get_order', args: { id: 4711 } }, 'packed')
          .assistant('It is packed.'),
      )
    },
    { tools: ['get_order'], may: ['scattered_repeat'] },
  ),
  healthy(
    'harness: a person says a word after each card that a tool shows',
    (run) => {
      run.system('Show cards.').user('Show me the first card.')
      return run.times(6, (again) =>
        again.tool({ name: 'show_card', args: { deck: 'a' } }, 'shown').user('again'),
      )
    },
    { tools: ['show_card'] },
  ),
  healthy('harness: a person notes observations, and each is confirmed', (run) => {
    run.system('Confirm each note.')
    const birds = ['robin', 'wren', 'finch', 'heron', 'swift']
    return run.times(birds.length, (again, at) =>
      again.user(`Observation: a ${birds[at]} at the feeder`).assistant('Noted, thank you.'),
    )
  }),
  healthy(
    'harness: a person answers between the reminders of a harness',
    (run) => {
      run.system('You fix code.').user('Fix the failing test.')
      return run.times(5, (again, at) =>
        again
          .tool({ name: 'read_file', args: { path: 'src/app.ts' } }, 'file not found')
          .user(`<system-reminder>step ${at + 1} of 50</system-reminder>`)
          .user(`It is missing; look again now, I changed the branch (${names[at]}).`),
      )
    },
    { tools: ['read_file'] },
  ),
  healthy('harness: code that does something else each time', (run) => {
    run.system('You write code.').user('New task:\nRead all pages.')
    return run
      .times(6, (again, at) => coded(again, `print(read(${at}))`, `page ${at} of the book`))
      .assistant('All pages are read.')
  }),
  healthy('harness: code that asks for the state of a job', (run) => {
    run.system('You write code.').user('New task:\nWait for the job.')
    return run
      .times(3, (again) => coded(again, 'print(job.status())', 'status: running'))
      .assistant('It still runs; I will report.')
  }),
]

/** A call that the client sends back as text, with its result as the user's text. */
function written(run: AgentRun, call: CallOption, result: string): AgentRun {
  run.assistant({ calls: [call], kept: false })
  return run.edit((history) => {
    const id = run.recorded().calls.at(-1)?.answer?.tool_calls?.[0]?.id ?? ''
    const args = JSON.stringify(call.args).replaceAll('"', "'")
    const said = `[{'id': '${id}', 'type': 'function', 'function': {'name': '${call.name}', 'arguments': ${args}}}]`
    return [
      ...history,
      { role: 'assistant', content: `Calling tools:\n${said}` },
      { role: 'user', content: `Observation:\n${result}` },
    ]
  })
}

/** An answer with code, which the client runs: it sends the code back as a call in a text. */
function coded(run: AgentRun, code: string, result: string, as = 'Observation'): AgentRun {
  const text = `Thought: I will run this.\n<code>\n${code}\n`
  run.assistant({ text, kept: false })
  return run.edit((history) => {
    const call = `[{'id': 'call_${history.length}', 'type': 'function', 'function': {'name': 'python_interpreter', 'arguments': '${code}'}}]`
    const output = as === 'Observation' ? `Execution logs:\n${result}` : `${result}\n${retry}`
    return [
      ...history,
      { role: 'assistant', content: `${text.trim()}\n</code>\nCalling tools:\n${call}` },
      { role: 'user', content: `${as}:\n${output}` },
    ]
  })
}

/** An answer in the form of ReAct; the client adds the observation to the answer itself. */
function acted(run: AgentRun, tool: string, input: string, result: string): AgentRun {
  const text = `Thought: I look it up.\nAction: ${tool}\nAction Input: ${input}`
  run.assistant({ text, kept: false })
  return run.edit((history) => [
    ...history,
    { role: 'assistant', content: `${text}\nObservation: ${result}` },
  ])
}

/** An answer in the form of ReAct; the client writes it into the prompt, with the observation. */
function grown(run: AgentRun, tool: string, input: string, result: string): AgentRun {
  const text = `I should look it up.\nAction: ${tool}\nAction Input: ${input}`
  run.assistant({ text, kept: false })
  return run.edit(([prompt, ...rest]) => [
    { role: 'user', content: `${prompt?.content} ${text}\nObservation: ${result}\nThought:` },
    ...rest,
  ])
}

/** An answer with actions in JSON; the client writes one new message for the next call. */
function clicked(run: AgentRun, at: number, page: string): AgentRun {
  const thinking = `Step ${at}: I try the button ${'again '.repeat(at)}.`
  run.assistant({
    text: JSON.stringify({ thinking, action: [{ click: { index: 5 } }] }),
    kept: false,
  })
  return run.edit(([system]) => [
    ...(system === undefined ? [] : [system]),
    { role: 'user', content: pageOf(`<step>${thinking}</step>`, page) },
  ])
}

function pageOf(history: string, page: string): string {
  const request = '<agent_state><user_request>Press the button.</user_request></agent_state>'
  return `<agent_history>\n${history}\n</agent_history>\n\n${request}\n<browser_state>${page}</browser_state>`
}
