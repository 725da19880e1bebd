import { doubledByProxy } from './doubled-rows.ts'
import { context, failure, ill, type LabelledRun, loop } from './labelled-run.ts'

/** Trouble inside long, changed and doubled histories. */
export const hardRuns: readonly LabelledRun[] = [
  ill(
    'a loop begins after thirty good steps',
    [loop('repeat_call')],
    (run) =>
      run
        .system('You are a migration agent.')
        .user('Move the thirty accounts, then check the total.')
        .times(30, (agent, at) =>
          agent.tool({ name: 'move', args: { account: at } }, `moved ${at}`),
        )
        .mark()
        .times(5, (agent) => agent.tool({ name: 'total', args: { of: 'all' } }, '30 of 31'))
        .assistant('30 of 31 accounts are moved.'),
    { tools: ['move', 'total'] },
  ),
  ill(
    'a loop goes on after a compaction',
    [loop('repeat_call', 'one'), loop('repeat_call', 'two')],
    (run) =>
      run
        .system('You are a coding agent.')
        .user('Find out why the build hangs.')
        .tool({ name: 'read', args: { file: 'Makefile' } }, 'all: a b')
        .mark('one')
        .times(3, (agent) =>
          agent.tool({ name: 'make_dry_run', args: { target: 'all' } }, 'cc a.c'),
        )
        .compact('Summary: the build hangs; make_dry_run all prints cc a.c.', 2)
        .mark('two')
        .times(3, (agent) =>
          agent.tool({ name: 'make_dry_run', args: { target: 'all' } }, 'cc a.c'),
        )
        .assistant('The dry run shows nothing new.'),
    { tools: ['read', 'make_dry_run'] },
  ),
  ill(
    'a loop while the system text tells another time in each call',
    [loop('repeat_call')],
    (run) => {
      run.system('Time: 10:00. You book rooms.').user('A room for Monday.').mark()
      for (let at = 1; at <= 4; at++) {
        run.tool({ name: 'free_rooms', args: { day: 'mon' } }, '[]')
        run.edit((all) => [
          { role: 'system', content: `Time: 10:0${at}. You book rooms.` },
          ...all.slice(1),
        ])
      }
      return run.assistant('No room is free on Monday.')
    },
    { tools: ['free_rooms'] },
  ),
  ill(
    'a loop of four, told by the client and by the proxy',
    [loop('repeat_call')],
    (run) =>
      run
        .user('Is the gate shut?')
        .mark()
        .times(4, (agent) => agent.tool({ name: 'gate' }, 'open'))
        .assistant('It is open.'),
    { source: 'otlp', rows: doubledByProxy, tools: ['gate'] },
  ),
  ill(
    'errors of a tool that says success false',
    [loop('repeat_error')],
    (run) =>
      run
        .system('You manage a list.')
        .user('Add Kim to the list vip.')
        .mark()
        .times(3, (agent, at) =>
          agent.tool(
            { name: 'add_member', args: { list: 'vip', name: 'Kim' } },
            `{"success":false,"message":"list vip is locked","trace":"${'abc'[at]}1f00d9${at}e77b"}`,
          ),
        )
        .assistant('Kim could not be added: the list is locked.'),
    { tools: ['add_member'], may: ['tool_failure'] },
  ),
  ill(
    'one loop, then another',
    [loop('repeat_call', 'one'), loop('repeat_error', 'two')],
    (run) =>
      run
        .system('You are an analyst.')
        .user('Which shop sells most?')
        .mark('one')
        .times(3, (agent) => agent.tool({ name: 'tables' }, 'shops, sales'))
        .tool({ name: 'schema', args: { t: 'sales' } }, 'shop_id, cents')
        .mark('two')
        .times(3, (agent) =>
          agent.tool(
            { name: 'sql', args: { q: 'SELECT shop FROM sales' } },
            'ERROR: column "shop" does not exist',
          ),
        )
        .tool({ name: 'sql', args: { q: 'SELECT shop_id FROM sales' } }, '7')
        .assistant('Shop 7.'),
    { tools: ['tables', 'schema', 'sql'], may: ['tool_failure'] },
  ),
  ill(
    'tools of four kinds fail in turn',
    [loop('error_streak')],
    (run) =>
      run
        .system('You run a shop.')
        .user('Publish the article.')
        .mark()
        .tool({ name: 'login', args: { user: 'bot' } }, 'Error: user bot is blocked')
        .tool({ name: 'draft', args: { title: 'Spring' } }, '{"error":"not logged in"}')
        .tool({ name: 'upload', args: { file: 'a.jpg' } }, 'Error: permission denied')
        .tool({ name: 'publish', args: { id: 1 } }, '{"error":"draft 1 does not exist"}')
        .tool({ name: 'publish', args: { id: 2 } }, '{"error":"draft 2 does not exist"}')
        .assistant('I could not publish it: the user bot is blocked.'),
    { may: ['tool_failure'] },
  ),
  ill(
    'a cycle of two calls side by side each',
    [loop('cycle')],
    (run) => {
      run.system('You watch two ponds.').user('Which pond has more ducks?').mark()
      return run
        .times(3, (agent) =>
          agent
            .assistant({
              calls: [
                { name: 'count', args: { pond: 'a' } },
                { name: 'count', args: { pond: 'b' } },
              ],
            })
            .results(['4', '4'])
            .assistant({
              calls: [
                { name: 'photo', args: { pond: 'a' } },
                { name: 'photo', args: { pond: 'b' } },
              ],
            })
            .results(['a.jpg', 'b.jpg']),
        )
        .assistant('Both have four.')
    },
    { tools: ['count', 'photo'] },
  ),
  ill(
    'a cycle of five in a sub-agent',
    [loop('cycle')],
    (run) =>
      run
        .user('Let the tester try the form.')
        .assistant({ calls: [{ name: 'tester', args: { page: '/form' } }] })
        .parallel((tester) =>
          tester
            .system('You test pages.')
            .user('/form')
            .mark()
            .times(3, (agent) =>
              agent
                .tool({ name: 'open', args: { page: '/form' } }, 'a form')
                .tool({ name: 'type', args: { into: 'name', text: 'Ann' } }, 'typed')
                .tool({ name: 'press', args: { button: 'send' } }, 'field mail is empty')
                .tool({ name: 'screenshot' }, 'form with a red field')
                .tool({ name: 'back' }, 'start page'),
            )
            .assistant('The form wants a mail.'),
        )
        .results(['The form wants a mail.'])
        .assistant('The form can not be sent without a mail address.'),
    { may: ['duplicate_side_effect'] },
  ),
  ill(
    'a chant in Chinese',
    [loop('content_chant')],
    (run) =>
      run
        .user('写一段关于春天的文字。')
        .mark()
        .assistant(
          `春天来了。${'花园里的花都开了，孩子们在草地上奔跑，鸟儿在树上歌唱，阳光洒满大地。'.repeat(25)}`,
        ),
    { may: ['output_truncated'] },
  ),
  ill(
    'a chant after a good table',
    [loop('content_chant')],
    (run) =>
      run
        .user('Compare tea and coffee.')
        .mark()
        .assistant(
          `| drink | caffeine |\n|---|---|\n| tea | 40 mg |\n| coffee | 95 mg |\n\nIn short: ${'coffee has more caffeine than tea, and tea has less caffeine than coffee, '.repeat(20)}as shown.`,
        ),
    { streamed: true, may: ['output_truncated'] },
  ),
  ill(
    'the summary of a compaction forgets the language',
    [context('lost_context'), context('constraint_dropped')],
    (run) =>
      run
        .user('Answer in French from now on, please. What is a lock?')
        .assistant('Une écluse permet aux bateaux de passer d’un niveau d’eau à un autre.')
        .user('Et un pont-canal ?')
        .assistant('Un pont-canal fait passer un canal au-dessus d’une vallée.')
        .compact('Summary: the user asks about canals; lock and aqueduct were explained.')
        .user('And who built the Canal du Midi?')
        .mark()
        .assistant('The Canal du Midi was built by Pierre-Paul Riquet in the seventeenth century.'),
    { may: ['context_truncated'] },
  ),
  ill(
    'a new limit of words holds, and is broken twelve answers later',
    [context('lost_context')],
    (run) => {
      run
        .system('You are a museum guide.')
        .user('Please keep every answer under 20 words from now on. What is this?')
      run.assistant('A bronze helmet, about 2,400 years old.')
      for (const [question, answer] of [
        ['Where was it found?', 'In a river near Argos.'],
        ['Who wore it?', 'A foot soldier.'],
        ['Is it heavy?', 'It weighs two kilograms.'],
      ] as const) {
        run.user(question).assistant(answer)
      }
      return run
        .user('And this vase?')
        .mark()
        .assistant(
          'This vase was made in Athens around the year 520 before our era, shows Achilles and Ajax at a board game, was signed by its painter, and came to the museum in 1837 with a large collection from Etruria.',
        )
    },
    { streamed: true },
  ),
  ill(
    'an unsent message is told as sent in the middle of more work',
    [failure('false_success')],
    (run) =>
      run
        .system('You are an assistant with tools.')
        .user('Book the room and tell Ida.')
        .tool({ name: 'book_room', args: { room: 4 } }, '{"ok":true}')
        .tool(
          { name: 'send_message', args: { to: 'Ida', text: 'Room 4' } },
          '{"ok":false,"error":"recipient not found"}',
        )
        .mark()
        .assistant('Room 4 is booked and I have sent Ida a message successfully.'),
    { tools: ['book_room', 'send_message'], may: ['tool_failure'] },
  ),
  ill('a sub-agent gets no answer from its model', [failure('provider_server_error')], (run) =>
    run
      .user('Ask the expert.')
      .assistant({ calls: [{ name: 'expert', args: { q: 'moss' } }] })
      .parallel((expert) =>
        expert
          .system('You know mosses.')
          .user('moss')
          .assistant({ error: { status: 500, type: 'server_error', message: 'boom' } })
          .assistant({ error: { status: 500, type: 'server_error', message: 'boom' } }),
      )
      .results(['(no answer)'])
      .assistant('The expert did not answer.'),
  ),
]
