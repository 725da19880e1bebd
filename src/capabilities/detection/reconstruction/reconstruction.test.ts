import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AgentRun, agentRun, type RunSource } from '../../../../test/corpus/agent-run.ts'
import { observationOf } from '../../../../test/support/observations.ts'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import type { Observation } from '../../../model/observation.ts'
import type { TaskRun } from './contract.ts'
import { createReconstruction, reconstruct } from './reconstruction.ts'

const sources: readonly RunSource[] = ['proxy', 'otlp', 'otlp_openinference', 'otlp_no_content']
const withContent = sources.slice(0, 3)
const project_id = '0198c0de-0000-7000-8000-00000000000a'

function toolRun(source: RunSource): AgentRun {
  return agentRun(`tools ${source}`, { tools: ['look', 'write'], source })
    .system('You look things up.')
    .user('Find both.')
    .assistant({
      calls: [
        { name: 'look', args: { q: 'a', n: 1 } },
        { name: 'look', args: { q: 'b' } },
      ],
    })
    .results(['found a', { text: 'Error: no b', after_ms: 900 }])
    .tool({ name: 'write', args: { n: 1.0, q: 'a' } }, 'written')
    .assistant('Both are done.')
    .user('Thanks, and c?')
    .assistant('No c.')
}

function withoutPlaces(run: TaskRun) {
  return {
    steps: run.steps.map(({ text, tools, after_user, sig }) => ({ text, tools, after_user, sig })),
    tools: run.tools.map(({ name, arguments: args, result, fault, step, orphan, sig, out }) => ({
      ...{ name, result, fault, step, orphan, sig, out },
      args:
        args === null
          ? null
          : JSON.stringify(JSON.parse(args), Object.keys(JSON.parse(args)).sort()),
    })),
    breaks: run.breaks.map(({ kind }) => kind),
  }
}

describe('messages in the blocks of Bedrock, as events of a span report them', () => {
  const toolUse = { toolUseId: 'tu_1', name: 'look', input: { q: 'a' } }
  const answer = [{ text: 'I look.' }, { toolUse }]
  const asked = { role: 'user', content: '[{"text":"Find a."}]' }
  const callOf = (input: unknown, output: unknown, given: Partial<Observation>) =>
    observationOf({
      ...{ project_id, type: 'generation', source: 'otlp', ...given },
      ...{ input: JSON.stringify(input), output: JSON.stringify(output) },
    })
  const first = callOf([asked], [{ role: 'assistant', message: JSON.stringify(answer) }], {
    ...{ observation_id: 'aaaaaaaaaaaaaaa1', start_time: 1n, end_time: 2n },
  })
  const secondOf = (status: string) =>
    callOf(
      [
        asked,
        { role: 'assistant', content: JSON.stringify(answer) },
        {
          role: 'tool',
          content: JSON.stringify([
            { toolResult: { toolUseId: 'tu_1', status, content: [{ text: 'a is here' }] } },
          ]),
        },
      ],
      [{ role: 'assistant', message: '[{"reasoningContent":{"text":"hm"}},{"text":"Found."}]' }],
      { observation_id: 'aaaaaaaaaaaaaaa2', start_time: 3n, end_time: 4n },
    )

  test('are one history: its texts, its call and the result', () => {
    const run = reconstruct([first, secondOf('success')])
    expect(run.messages.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Find a.'],
      ['assistant', 'I look.'],
      ['tool', 'a is here'],
      ['assistant', 'Found.'],
    ])
    const use = { name: 'look', arguments: '{"q":"a"}', result: 'a is here', orphan: null }
    expect(run.tools).toMatchObject([{ ...use, tool_call_id: 'tu_1', fault: null }])
    expect(run.breaks).toEqual([])
  })

  test('report a failed tool', () => {
    expect(reconstruct([first, secondOf('error')]).tools).toMatchObject([{ fault: 'error' }])
  })

  test('an event with the JSON of a message, and one with a text', () => {
    const outputs = ['{"content":"7 °C"}', '7 °C', '{"celsius":']
    for (const [at, message] of outputs.entries()) {
      const run = reconstruct([callOf([asked], [{ role: 'assistant', message }], {})])
      expect(run.messages.at(-1)?.text).toBe(at === 2 ? message : '7 °C')
    }
  })
})

describe('a run with tools', () => {
  test.each(withContent)('is the same from %s', (source) => {
    const run = reconstruct(toolRun(source).observations())
    expect(run.steps.map(({ text, after_user }) => [text, after_user])).toEqual([
      ['', true],
      ['', false],
      ['Both are done.', false],
      ['No c.', true],
    ])
    expect(run.steps.map(({ tools }) => tools)).toEqual([[0, 1], [2], [], []])
    expect(run.tools.map(({ name, result, fault }) => [name, result, fault])).toEqual([
      ['look', 'found a', null],
      ['look', 'Error: no b', 'error'],
      ['write', 'written', null],
    ])
    expect(run.tools.every(({ orphan, step }) => orphan === null && step !== null)).toBe(true)
    expect(run.messages.filter(({ role }) => role === 'user')).toHaveLength(2)
    expect(run.messages.filter(({ role }) => role === 'tool')).toHaveLength(3)
    expect(run.messages.filter(({ role }) => role === 'assistant')).toHaveLength(4)
    expect(run.breaks).toEqual([])
    expect(run.content).toBe('full')
    expect(run.calls).toHaveLength(4)
  })

  test('has the same digests from every source', () => {
    const [first, ...others] = withContent.map((source) =>
      withoutPlaces(reconstruct(toolRun(source).observations())),
    )
    for (const other of others) expect(other).toEqual(first)
  })

  test('has names, times and faults without content', () => {
    const run = reconstruct(toolRun('otlp_no_content').observations())
    expect(run.content).toBe('none')
    expect(run.steps.map(({ text, tools }) => [text, tools.length])).toEqual([
      [null, 2],
      [null, 1],
      [null, 0],
      [null, 0],
    ])
    expect(
      run.tools.map(({ name, arguments: args, sig, is_answered }) => [
        name,
        args,
        sig,
        is_answered,
      ]),
    ).toEqual([
      ['look', null, null, true],
      ['look', null, null, true],
      ['write', null, null, true],
    ])
    expect(run.tools[1]?.latency_ms).toBeGreaterThan(0)
  })

  test('reports the latency of tools', () => {
    const run = reconstruct(toolRun('proxy').observations())
    expect(run.tools[2]?.latency_ms).toBe(400)
  })

  test('recognises equal arguments in any spelling', () => {
    const write = (args: string) =>
      agentRun('spelling', { tools: ['write'] })
        .user('u')
        .tool({ name: 'write', args }, 'ok')
        .observations()
    const sigs = ['{"a":1,"b":[1.0]}', '{ "b": [1], "a": 1e0 }', '"{\\"a\\":1,\\"b\\":[1]}"'].map(
      (args) => reconstruct(write(args)).tools[0]?.sig,
    )
    expect(new Set(sigs).size).toBe(1)
  })
})

describe('a history that breaks', () => {
  const long = (name: string) =>
    agentRun(name, { tools: ['t'] })
      .system('Be brief.')
      .user('Do the long thing.')
      .times(6, (run, at) =>
        run.tool({ name: 't', args: { at } }, `result ${at} ${'x'.repeat(300)}`),
      )

  test('compacted', () => {
    const run = reconstruct(
      long('c')
        .compact('Summary of the earlier conversation: steps 0 to 4 are done.', 2)
        .tool({ name: 't', args: { at: 7 } }, 'r')
        .assistant('done')
        .observations(),
    )
    expect(run.breaks.map(({ kind }) => kind)).toEqual(['compacted'])
    expect(run.threads).toHaveLength(1)
    expect(run.breaks[0]?.lost.length).toBeGreaterThan(5)
    expect(run.steps).toHaveLength(8)
  })
  test('compacted to the summary alone', () => {
    const run = reconstruct(
      long('c0')
        .compact('The conversation so far: all was looked at.')
        .assistant('done')
        .observations(),
    )
    expect(run.breaks.map(({ kind }) => kind)).toEqual(['compacted'])
  })
  test('truncated', () => {
    const run = reconstruct(long('t').truncate(4).assistant('a').assistant('b').observations())
    expect(run.breaks.map(({ kind }) => kind)).toEqual(['truncated'])
    expect(run.breaks[0]?.lost).toHaveLength(4)
  })
  test('reset', () => {
    const run = reconstruct(
      long('r').assistant('ok').reset().user('Who are you?').assistant('x').observations(),
    )
    expect(run.breaks.map(({ kind }) => kind)).toEqual(['reset'])
    expect(run.threads).toHaveLength(1)
  })
  test('edited: a tool result is changed in place', () => {
    const run = reconstruct(
      long('e')
        .edit((all) =>
          all.map((one, at) => (at === 3 ? { ...one, content: `other ${'y'.repeat(290)}` } : one)),
        )
        .assistant('ok')
        .observations(),
    )
    expect(run.breaks.map(({ kind, lost }) => [kind, lost.length])).toEqual([['edited', 1]])
    expect(run.tools.filter(({ orphan }) => orphan !== null)).toEqual([])
  })
  test('a user who edits a message starts a branch', () => {
    const run = reconstruct(
      long('b')
        .assistant('ok')
        .user('Next?')
        .assistant('this')
        .edit((all) => [...all.slice(0, -2), { role: 'user', content: 'Next, please?' }])
        .assistant('that')
        .observations(),
    )
    expect(run.breaks).toEqual([])
    expect(run.threads.map(({ kind, parent, steps }) => [kind, parent, steps.length])).toEqual([
      ['root', null, 8],
      ['branch', 0, 1],
    ])
  })
  test('a system text that differs each time only breaks itself', () => {
    let run = agentRun('clock').system('It is 10:00.').user('u')
    for (let at = 1; at < 5; at++) {
      run = run
        .assistant(`a${at}`)
        .user(`u${at}`)
        .edit((all) => [{ role: 'system', content: `It is 10:0${at}.` }, ...all.slice(1)])
    }
    const { breaks, threads, messages } = reconstruct(run.assistant('end').observations())
    expect(breaks.every(({ kind, lost }) => kind === 'edited' && lost.length === 1)).toBe(true)
    expect(threads).toHaveLength(1)
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(5)
  })
})

describe('parallel agents', () => {
  test.each(withContent)('are separate threads, from %s', (source) => {
    const run = reconstruct(
      agentRun(`par ${source}`, { tools: ['t'], source })
        .system('You lead.')
        .user('Go.')
        .tool({ name: 't', args: 1 }, 'r')
        .assistant('I ask two.')
        .parallel(
          (a) => a.system('You are A.').user('a').tool({ name: 't', args: 2 }, 'r').assistant('A'),
          (b) => b.system('You are B.').user('b').tool({ name: 't', args: 2 }, 'r').assistant('B'),
        )
        .user('And?')
        .assistant('Done.')
        .observations(),
    )
    expect(run.breaks).toEqual([])
    expect(run.threads.map(({ kind, steps }) => [kind, steps.length])).toEqual([
      ['root', 3],
      ['sub_agent', 2],
      ['sub_agent', 2],
    ])
    expect(run.tools.filter(({ orphan }) => orphan !== null)).toEqual([])
  })
  test('an agent that only shares the user messages is not a break', () => {
    let run = agentRun('router').system('You answer.').user('u0')
    for (let at = 1; at < 4; at++) {
      const user = `u${at - 1}`
      run = run
        .parallel((a) => a.system('You route.').user(user).assistant('left'))
        .assistant(`a${at}`)
        .user(`u${at}`)
    }
    const { breaks, threads } = reconstruct(run.assistant('end').observations())
    expect(breaks).toEqual([])
    expect(threads.find(({ steps }) => steps.length === 4)).toBeDefined()
  })
  test('also without a system text: the reset is undone', () => {
    const run = reconstruct(
      agentRun('par bare', { tools: ['t'] })
        .user('Go.')
        .tool({ name: 't', args: 1 }, 'r')
        .assistant('I ask one.')
        .parallel((a) => a.user('a').tool({ name: 't', args: 2 }, 'r').assistant('A'))
        .user('And?')
        .assistant('Done.')
        .observations(),
    )
    expect(run.breaks).toEqual([])
    expect(run.threads.map(({ kind, steps, parent }) => [kind, steps.length, parent])).toEqual([
      ['root', 3, null],
      ['sub_agent', 2, 0],
    ])
    for (const thread of run.threads) {
      for (const step of thread.steps) expect(run.steps[step]?.thread).toBe(thread.index)
    }
  })
})

describe('calls', () => {
  test('that failed and were retried', () => {
    const run = reconstruct(
      agentRun('retry')
        .user('u')
        .assistant({ error: { status: 503 } })
        .assistant({ error: { status: 503 } })
        .assistant('ok')
        .observations(),
    )
    expect(run.calls.map(({ retry_of, step }) => [retry_of, step])).toEqual([
      [null, null],
      [0, null],
      [1, 0],
    ])
    expect(run.threads).toHaveLength(1)
  })
  test('answered twice are branches', () => {
    const run = reconstruct(
      agentRun('twice')
        .user('u')
        .assistant({ text: 'a', kept: false })
        .assistant({ text: 'b', kept: false })
        .assistant('c')
        .user('v')
        .assistant('d')
        .observations(),
    )
    expect(run.threads.map(({ kind, steps }) => [kind, steps.length])).toEqual([
      ['root', 1],
      ['branch', 1],
      ['branch', 2],
    ])
  })
  test('reported by an instrumentation and the proxy are one', () => {
    const rows = agentRun('reported', { tools: ['t'] })
      .user('u')
      .tool({ name: 't', args: 1 }, 'r')
      .assistant('ok')
      .observations()
    const spans = rows.map(
      (row): Observation => ({
        ...row,
        source: 'otlp',
        observation_id: `0${row.observation_id.slice(1)}`,
        start_time: row.start_time - 1_000_000n,
        end_time: row.end_time + 1_000_000n,
        input: '',
        output: '',
        content_state: 'dropped',
        tool_calls: [],
        tool_results: [],
      }),
    )
    const nested = rows.map(
      (row, at): Observation => ({
        ...row,
        parent_observation_id: spans[at]?.observation_id ?? '',
      }),
    )
    const run = reconstruct([...nested, ...spans])
    expect(withoutPlaces(run)).toEqual(withoutPlaces(reconstruct(rows)))
    expect(run.calls).toHaveLength(2)
    expect(run.content).toBe('full')
    expect(run.threads).toHaveLength(1)
  })
})

describe('irregular input', () => {
  test('a tool call without a result, and a result without a call', () => {
    const run = reconstruct(
      agentRun('orphans', { tools: ['t'] })
        .user('u')
        .assistant({ calls: [{ name: 't', args: 1 }] })
        .user('Never mind.')
        .assistant('ok')
        .edit((all) => [...all, { role: 'tool', tool_call_id: 'unknown', content: 'late' }])
        .assistant('hm')
        .observations(),
    )
    expect(run.tools.map(({ orphan, is_answered }) => [orphan, is_answered])).toEqual([
      ['call', false],
      ['result', true],
    ])
  })
  test('an answer left out by the client or by a compaction has no orphans', () => {
    const dropped = agentRun('dropped', { tools: ['t'] })
      .user('u')
      .assistant({ calls: [{ name: 't', args: 1 }], kept: false })
      .user('Say it so.')
      .assistant('ok')
      .user('And?')
      .assistant('yes')
      .observations()
    expect(reconstruct(dropped).tools.map(({ orphan }) => orphan)).toEqual([null])
    const compacted = agentRun('taken', { tools: ['t'] })
      .system('S')
      .user('u')
      .tool({ name: 't', args: 1 }, 'r')
      .tool({ name: 't', args: 2 }, 'r')
      .compact('Summary: all is read.')
      .tool({ name: 't', args: 3 }, 'r')
      .assistant('ok')
      .observations()
    expect(reconstruct(compacted).tools.map(({ orphan }) => orphan)).toEqual([null, null, null])
  })
  test('a second result for one call', () => {
    const rows = agentRun('second', { tools: ['t'] })
      .user('u')
      .tool({ name: 't', args: 1, id: 'c1' }, 'alive')
      .assistant('ok')
      .edit((all) => [...all, { role: 'tool', tool_call_id: 'c1', content: 'dead' }])
      .assistant('hm')
      .observations()
    expect(reconstruct(rows).tools.map(({ orphan, result }) => [orphan, result])).toEqual([
      [null, 'alive'],
      ['result', 'dead'],
    ])
  })
  test('ids that restart in each answer', () => {
    const rows = agentRun('again', { tools: ['t'] })
      .user('u')
      .tool({ name: 't', args: 1, id: 'call_0' }, 'first')
      .tool({ name: 't', args: 2, id: 'call_0' }, { text: 'second', id: 'call_0' })
      .assistant('ok')
      .observations()
    expect(reconstruct(rows).tools.map(({ orphan, result }) => [orphan, result])).toEqual([
      [null, 'first'],
      [null, 'second'],
    ])
  })
  test('arguments that are not JSON, and long ones', () => {
    const run = reconstruct(
      agentRun('broken', { tools: ['t'] })
        .user('u')
        .tool({ name: 't', args: '{"a": 1,' }, 'r')
        .tool({ name: 't', args: { text: 'x'.repeat(1_000_000) } }, 'y'.repeat(1_000_000))
        .assistant('ok')
        .observations(),
    )
    expect(run.tools.map(({ arguments_broken, sig }) => [arguments_broken, sig !== null])).toEqual([
      [true, true],
      [false, true],
    ])
    expect(run.tools[1]?.arguments?.length).toBeLessThanOrEqual(16_384)
    expect(run.tools[1]?.result?.length).toBeLessThanOrEqual(16_384)
  })
  test('tools with their own spans whose long arguments differ only at the end', () => {
    const long = 'x'.repeat(5_000)
    const rows = ['a', 'b', 'a'].map((last, at) => {
      const input = JSON.stringify({ text: `${long}${last}` })
      const tool_calls = [{ id: `call_${at}`, name: 'write', arguments: input.slice(0, 4_096) }]
      const start_time = BigInt(at + 1) * 1_000_000_000n
      const observation_id = `aaaaaaaaaaaaaaa${at}`
      const about = { project_id, type: 'tool', source: 'otlp', output: 'written' } as const
      const times = { start_time, end_time: start_time }
      return observationOf({ ...about, observation_id, input, tool_calls, ...times })
    })
    const sigs = reconstruct(rows).tools.map(({ sig }) => sig)
    expect(new Set(sigs).size).toBe(2)
    expect(sigs[0]).toBe(sigs[2])
    expect(reconstruct(rows).tools.some(({ arguments_broken }) => arguments_broken)).toBe(false)
  })
  test('circular parents', () => {
    const rows = toolRun('otlp').observations()
    const [first] = rows
    const circled = rows.map((row) => ({
      ...row,
      parent_observation_id: first?.observation_id ?? '',
    }))
    expect(reconstruct(circled).steps).toHaveLength(4)
  })
  test('nested values of any depth', () => {
    const rows = agentRun('deep', { tools: ['t'] })
      .user('u')
      .tool({ name: 't', args: `${'['.repeat(50_000)}${']'.repeat(50_000)}` }, 'r')
      .observations()
    const deep = rows.map((row) => ({
      ...row,
      input: `[{"role":"user","content":${'[{"type":"x","value":'.repeat(20_000)}1${'}]'.repeat(20_000)}}]`,
    }))
    expect(reconstruct(deep).calls).toHaveLength(1)
    expect(reconstruct(rows).tools[0]?.sig).not.toBeNull()
  })
  test('a task id reused days later starts another thread, not a reset', () => {
    const first = toolRun('proxy').observations()
    const later = agentRun('later', { start_time: 1_790_500_000_000_000_000n })
      .user('Other.')
      .assistant('x')
      .observations()
    const run = reconstruct([...first, ...later])
    expect(run.breaks).toEqual([])
    expect(run.threads.map(({ kind }) => kind)).toEqual(['root', 'root'])
  })
})

describe('rows', () => {
  const rows = toolRun('otlp').observations()
  const about = { project_id: '', task_id: '', conversation_id: '' }
  test('already added are skipped; earlier and changed ones need a new reconstruction', () => {
    const one = createReconstruction(about)
    expect(one.add(rows.slice(2))).toBe('added')
    const before = one.run().calls.length
    expect(one.add(rows.slice(2))).toBe('added')
    expect(one.run().calls).toHaveLength(before)
    expect(one.add(rows.slice(0, 1))).toBe('rebuild')
    const [changed] = rows.slice(2).map((row) => ({ ...row, end_time: row.end_time + 1n }))
    expect(one.add(changed === undefined ? [] : [changed])).toBe('rebuild')
    expect(one.run().calls).toHaveLength(before)
  })
  test('keep the identity of unchanged objects', () => {
    const one = createReconstruction(about)
    one.add(rows.slice(0, -1))
    const { steps } = one.run()
    const kept = [...steps]
    one.add(rows.slice(-1))
    for (const [at, step] of kept.entries()) expect(one.run().steps[at]).toBe(step)
  })
  test('the memory is estimated and limited', () => {
    const one = createReconstruction(about)
    expect(one.bytes()).toBe(0)
    one.add(rows)
    expect(one.bytes()).toBeGreaterThan(rows.length * 200)
  })
})

/** Random runs with every behaviour of a client between calls. */
const deeds = fc.array(
  fc.record({
    deed: fc.constantFrom(
      'tool',
      'text',
      'user',
      'fail',
      'truncate',
      'compact',
      'edit',
      'reset',
      'parallel',
      'again',
    ),
    n: fc.nat(3),
  }),
  { minLength: 1, maxLength: 25 },
)

const doing: Readonly<Record<string, (run: AgentRun, n: number) => AgentRun>> = {
  tool: (run, n) =>
    run
      .assistant({ calls: Array.from({ length: n + 1 }, () => ({ name: 't', args: { n } })) })
      .results(Array.from({ length: n + 1 }, () => `ok ${n}`)),
  text: (run, n) => run.assistant(`text ${n}`),
  user: (run, n) => run.user(`more ${n}`),
  fail: (run) => run.assistant({ error: { status: 500 } }),
  truncate: (run, n) => run.truncate(n),
  compact: (run, n) => run.compact('summary of it', n),
  edit: (run, n) =>
    run.edit((all) => all.map((one, at) => (at === n ? { ...one, content: 'E' } : one))),
  reset: (run) => run.reset().user('anew'),
  again: (run) => run.assistant({ text: 'no', kept: false }),
  parallel: (run) =>
    run.parallel(
      (a) => a.user('sub').assistant('s'),
      (b) => b.user('sub').assistant('s'),
    ),
}

function runOfDeeds(
  list: readonly { deed: string; n: number }[],
  source: RunSource,
): Observation[] {
  let run = agentRun('deeds', { tools: ['t'], source })
    .system('S')
    .user('U')
  for (const { deed, n } of list) run = doing[deed]?.(run, n) ?? run
  return run.assistant('end').observations()
}

function expectWhole(run: TaskRun) {
  for (const thread of run.threads) {
    for (const at of thread.steps) expect(run.steps[at]?.thread).toBe(thread.index)
    for (const at of thread.calls) expect(run.calls[at]?.thread).toBe(thread.index)
  }
  for (const step of run.steps) {
    expect(run.calls[step.call]?.step).toBe(step.index)
    for (const at of step.tools) expect(run.tools[at]?.step).toBe(step.index)
  }
  for (const [at, tool] of run.tools.entries()) expect(tool.index).toBe(at)
  expect(run.threads.flatMap(({ steps }) => steps)).toHaveLength(run.steps.length)
  expect(run.threads.flatMap(({ calls }) => calls)).toHaveLength(run.calls.length)
  for (const { lost } of run.breaks) for (const at of lost) expect(run.messages[at]).toBeDefined()
}

describe('for every client behaviour', () => {
  test.each(sources)('any split into batches gives the same run, from %s', (source) => {
    fc.assert(
      fc.property(deeds, fc.array(fc.nat(100), { maxLength: 10 }), (list, cuts) => {
        const rows = runOfDeeds(list, source)
        const [first] = rows
        if (first === undefined) return
        const { project_id, task_id, conversation_id } = first
        const one = createReconstruction({ project_id, task_id, conversation_id })
        const ends = [...cuts.map((cut) => cut % rows.length).sort((a, b) => a - b), rows.length]
        let from = 0
        for (const end of ends) {
          expect(one.add(rows.slice(from, end))).toBe('added')
          one.run()
          from = end
        }
        expect(one.run()).toEqual(reconstruct(rows))
      }),
      { numRuns: fuzzRuns(40) },
    )
  })
  test.each(sources)('every index points to an existing object, from %s', (source) => {
    fc.assert(
      fc.property(deeds, (list) => {
        const rows = runOfDeeds(list, source)
        const run = reconstruct(rows)
        expect(run.calls).toHaveLength(rows.filter(({ type }) => type === 'generation').length)
        expectWhole(run)
      }),
      { numRuns: fuzzRuns(40) },
    )
  })
})
