import { healthy, type LabelledRun } from './labelled-run.ts'

const account = (balance: number) => `{"balance":${balance},"currency":"EUR"}`

/** Conversations that turn, repeat and change their mind, and whose answers follow. */
export const conversationRuns: readonly LabelledRun[] = [
  healthy('the user asks the same thing twice', (run) =>
    run
      .system('You are the help desk.')
      .user('How do I change my password?')
      .assistant('Open Settings, then Security, then Change password.')
      .user('How do I change my password?')
      .assistant('Open Settings, then Security, then Change password.')
      .user('Thanks, found it.')
      .assistant('You are welcome!'),
  ),
  healthy(
    'the user asks for the balance three times in a week',
    (run) =>
      run
        .user('What is my balance?')
        .tool({ name: 'get_balance', args: { account: 'a1' } }, account(120))
        .assistant('120 euros.')
        .user('And now?')
        .tool({ name: 'get_balance', args: { account: 'a1' } }, account(95))
        .assistant('95 euros.')
        .user('And now?')
        .tool({ name: 'get_balance', args: { account: 'a1' } }, account(1_340))
        .assistant('1,340 euros: your salary has come.'),
    { tools: ['get_balance'] },
  ),
  healthy('the user changes his mind about the language', (run) =>
    run
      .system('You are a helpful assistant.')
      .user('Please answer in German from now on. Why is the sky blue?')
      .assistant(
        'Weil die Luft das blaue Licht stärker streut als das rote und es deshalb von überall her kommt.',
      )
      .user('Switch back to English, please. And why is the sunset red?')
      .assistant(
        'Because the light takes a longer way through the air and the blue part of it is scattered away.',
      ),
  ),
  healthy(
    'the user raises his budget',
    (run) =>
      run
        .system('You plan journeys.')
        .user('A weekend in Ghent. My budget is 300 euros.')
        .assistant('For 300 euros I suggest the hostel on the canal. When do you travel?')
        .user('In May. I have changed my mind: my budget is 500 euros.')
        .assistant('Since your budget is 500 euros, the hotel by the castle is possible as well.'),
    { model: 'gpt-4o' },
  ),
  healthy('the user corrects the order number', (run) =>
    run
      .user('My order number is 4711. Where is it?')
      .assistant('Order 4711 was delivered on Monday.')
      .user('Sorry, my order number is 4712.')
      .assistant('Your order number is 4712 then: it is on its way.'),
  ),
  healthy('a forbidden word is quoted to say that it is not used', (run) =>
    run
      .system('You write advertisements. Never use the word "cheap" for our goods.')
      .user('Why do you never write "cheap"?')
      .assistant('I was asked not to use that word for our goods; I say "good value" instead.'),
  ),
  healthy('the user lifts the limit for one answer', (run) =>
    run
      .system('Keep every answer under 30 words unless the user asks for more.')
      .user('What is a fugue?')
      .assistant('A fugue is a piece in which one theme is taken up by several voices in turn.')
      .user('Explain it in detail, as long as you like.')
      .assistant(
        'A fugue begins with one voice that states the subject alone. A second voice answers it a fifth higher while the first goes on with a countersubject. When all voices have entered, the exposition is over, and episodes lead through other keys in which the subject returns, sometimes upside down or in longer notes, until the last entry closes the piece.',
      ),
  ),
  healthy(
    'German with English names of products',
    (run) =>
      run
        .system('Antworte immer auf Deutsch.')
        .user('Welche Werkzeuge nutzt ihr?')
        .assistant('Wir nutzen GitHub Actions, Visual Studio Code und Google Cloud Run.')
        .user('Und zum Testen?')
        .assistant('Dafür nehmen wir Playwright, Vitest und den Load Runner.'),
    { source: 'otlp' },
  ),
  healthy(
    'a translation is in the language that was asked for',
    (run) =>
      run
        .system('Antworte auf Deutsch.')
        .user('Übersetze ins Englische: „Der Zug hat heute leider Verspätung.“')
        .assistant('The train is unfortunately delayed today.'),
    { may: ['lost_context'] },
  ),
  healthy('JSON only, with and without a fence', (run) =>
    run
      .system('Answer with JSON only.')
      .user('Weather in Rome?')
      .assistant('{"city":"Rome","c":24}')
      .user('In Oslo?')
      .assistant('```json\n{"city":"Oslo","c":11}\n```'),
  ),
  healthy('a question is asked about each of two things', (run) =>
    run
      .system('You take orders for a print shop.')
      .user('I want a poster and a flyer.')
      .assistant('Which size should the poster have?')
      .user('A2')
      .assistant('Which size should the flyer have?')
      .user('A6')
      .assistant('Poster in A2 and flyer in A6: noted.'),
  ),
  healthy(
    'a question is asked again because it was not answered',
    (run) =>
      run
        .system('You open accounts.')
        .user('I want an account.')
        .assistant('Gladly. What is your e-mail address?')
        .user('Why do you need it?')
        .assistant('To send you the link for the password. What is your e-mail address?')
        .user('kim@example.org')
        .assistant('Thank you, the link is on its way.'),
    { streamed: true },
  ),
  healthy('a quiz asks in the same way each time', (run) =>
    run
      .system('You are a quiz master.')
      .user('Start!')
      .assistant('What is the capital of France?')
      .user('Paris')
      .assistant('Correct! What is the capital of Spain?')
      .user('Madrid')
      .assistant('Correct! What is the capital of Italy?')
      .user('Rome')
      .assistant('Correct! Three of three.'),
  ),
  healthy('anything else, after each answer', (run) =>
    run
      .system('You are the concierge.')
      .user('When is breakfast?')
      .assistant('From seven to ten. Can I help you with anything else?')
      .user('Is there a pool?')
      .assistant('Yes, on the roof. Can I help you with anything else?')
      .user('No, thanks.')
      .assistant('Have a nice stay!'),
  ),
  healthy('the agent confirms what it was told', (run) =>
    run
      .system('You are the support agent of a shop.')
      .user('My order number is 88-1. The cup is broken.')
      .assistant('Your order number is 88-1, right? I can send you a new cup.')
      .user('Yes.')
      .assistant('A new cup is on its way.'),
  ),
  healthy('a password is asked for again to be safe', (run) =>
    run
      .system('Before each payment ask for the TAN.')
      .user('Pay 20 euros to Ann.')
      .assistant('What is the TAN?')
      .user('118')
      .assistant('20 euros are paid to Ann.')
      .user('Pay 30 euros to Bob.')
      .assistant('What is the TAN?')
      .user('204')
      .assistant('30 euros are paid to Bob.'),
  ),
  healthy('the client sums up and loses nothing', (run) =>
    run
      .system('You plan a wedding. Answer in English.')
      .user('We are 80 guests and the budget is 12,000 euros.')
      .assistant('Lovely! Which month do you have in mind?')
      .user('June, in a barn.')
      .assistant('Then the barn at the mill would fit.')
      .compact(
        'Summary of the conversation so far: 80 guests, budget 12,000 euros, June, in a barn; the barn at the mill was suggested.',
        1,
      )
      .user('What about music?')
      .assistant('For 80 guests in a barn a band of four is enough.'),
  ),
  healthy(
    'a coding agent compacts its history and goes on',
    (run) =>
      run
        .system('You are a coding agent.')
        .user('Rename Cart to Basket everywhere, but leave legacy.ts alone.')
        .tool({ name: 'grep', args: { text: 'Cart' } }, 'a.ts b.ts legacy.ts')
        .tool({ name: 'edit', args: { file: 'a.ts' } }, 'edited')
        .compact(
          'This session continues an earlier one. Task: rename Cart to Basket everywhere, but leave legacy.ts alone. Done: a.ts. To do: b.ts.',
        )
        .tool({ name: 'edit', args: { file: 'b.ts' } }, 'edited')
        .assistant('a.ts and b.ts are changed; legacy.ts is as it was.'),
    { tools: ['grep', 'edit'] },
  ),
  healthy(
    'old tool results are cleared to save room',
    (run) =>
      run
        .system('You are a research agent.')
        .user('Compare three laptops.')
        .tool({ name: 'fetch', args: { url: 'l.example/1' } }, `Laptop one. ${'Data. '.repeat(60)}`)
        .tool(
          { name: 'fetch', args: { url: 'l.example/2' } },
          `Laptop two. ${'Facts. '.repeat(60)}`,
        )
        .edit((all) =>
          all.map((one) =>
            one.role === 'tool' ? { ...one, content: '[old tool result content cleared]' } : one,
          ),
        )
        .tool({ name: 'fetch', args: { url: 'l.example/3' } }, 'Laptop three. Light.')
        .assistant('Laptop three is the lightest of them.'),
    { tools: ['fetch'], may: ['context_truncated'] },
  ),
  healthy('the user edits a question and asks anew', (run) =>
    run
      .system('You are a chat assistant.')
      .user('Write a haiku about snow.')
      .assistant('White on the old roof / a crow shakes its wings awake / and the hush comes back')
      .edit((all) => [...all.slice(0, 1), { role: 'user', content: 'Write a haiku about rain.' }])
      .assistant('Rain on the tin shed / a thousand small drums agree / to begin again'),
  ),
  healthy('an answer is made again on request', (run) =>
    run
      .user('A name for a bakery?')
      .assistant('Crumb & Co.')
      .edit((all) => all.slice(0, 1))
      .assistant('The Rolling Pin')
      .user('Good, that one.')
      .assistant('A fine choice.'),
  ),
  healthy('a date is put into the system text of each call', (run) =>
    run
      .system('You are an assistant. The time is 10:00:01.')
      .user('Remind me of the cake.')
      .assistant('I will.')
      .edit((all) => [
        { role: 'system', content: 'You are an assistant. The time is 10:05:44.' },
        ...all.slice(1),
      ])
      .user('What should you remind me of?')
      .assistant('Of the cake.'),
  ),
  healthy(
    'half of the window is used',
    (run) =>
      run
        .user('Read the book.')
        .assistant({ text: 'Done. It is a story of two cities.', input_tokens: 64_000 })
        .user('How does it end?')
        .assistant({ text: 'With a sacrifice.', input_tokens: 64_100 }),
    { model: 'gpt-4o' },
  ),
]
