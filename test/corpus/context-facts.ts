import { claim, context, ill, type LabelledRun } from './labelled-run.ts'

const mayLost = ['lost_context']

/** Facts that are stated differently than they were given, and repeated questions. */
export const factRuns: readonly LabelledRun[] = [
  ill(
    'another order number',
    [context('contradicted_fact'), claim()],
    (run) =>
      run
        .system('You are the support agent of a shop.')
        .user('My order number is 4711. When does it arrive?')
        .tool({ name: 'lookup', args: { order: 4711 } }, '{"eta":"Friday"}')
        .mark()
        .assistant('Your order number is 4171, and it arrives on Friday.'),
    { tools: ['lookup'], may: mayLost },
  ),
  ill(
    'a budget that grew',
    [context('contradicted_fact')],
    (run) =>
      run
        .system('You plan journeys.')
        .user('I want to spend a week in Crete. My budget is 900 euros.')
        .assistant('Lovely! Do you prefer the sea or the mountains?')
        .user('The sea.')
        .mark()
        .assistant('Since your budget is 1,500 euros, I suggest the Blue Bay resort in Elounda.'),
    { model: 'gpt-4o', may: mayLost },
  ),
  ill(
    'a name that changes',
    [context('contradicted_fact')],
    (run) =>
      run
        .user('Hello, my name is Martina. Can you help me with my tax form?')
        .assistant('Of course, Martina. Which form is it?')
        .user('The one for freelancers.')
        .assistant('Good. It has four pages.')
        .user('What do I write on page one?')
        .mark()
        .assistant('Your name is Monika, so write Monika in field 1.'),
    { streamed: true, may: mayLost },
  ),
  ill(
    'a child grows by two years',
    [context('contradicted_fact')],
    (run) =>
      run
        .system('You recommend books.')
        .user('My daughter is 6 years old. What could she read?')
        .assistant('Picture books with short texts.')
        .user('And what could we play?')
        .mark()
        .assistant('Your daughter is 9 years old, so a strategy game would suit her.'),
    { source: 'otlp', may: mayLost },
  ),
  ill(
    'the meeting moves by itself',
    [context('contradicted_fact')],
    (run) =>
      run
        .system('You keep calendars.')
        .user('The meeting is on Tuesday. The room is 204. Write the invitation.')
        .assistant('Subject: meeting. Who should be invited?')
        .user('Ines and Paul.')
        .mark()
        .assistant('Dear Ines, dear Paul, the room is 402. See you there.'),
    { source: 'otlp_openinference', may: mayLost },
  ),
  ill(
    'the e-mail address is asked for twice',
    [context('repeated_question')],
    (run) =>
      run
        .system('You open accounts.')
        .user('I want an account.')
        .assistant('Gladly. What is your e-mail address?')
        .user('kim@example.org')
        .assistant('Thank you. Which plan would you like?')
        .user('The small one.')
        .mark()
        .assistant('Good choice. What is your e-mail address?'),
    { may: mayLost },
  ),
  ill(
    'the destination is asked for again after a search',
    [context('repeated_question')],
    (run) =>
      run
        .system('You are a travel agent.')
        .user('I want to go away over Easter.')
        .assistant('Where would you like to go?')
        .user('To Madeira.')
        .tool({ name: 'find_offers', args: { to: 'Madeira' } }, '[{"hotel":"Mar"}]')
        .assistant('There is a place free at the hotel Mar. For how many people?')
        .user('Two.')
        .mark()
        .assistant('Where would you like to go?'),
    { tools: ['find_offers'], streamed: true, may: mayLost },
  ),
  ill(
    'the size of the shoe, once more',
    [context('repeated_question')],
    (run) =>
      run
        .system('Du berätst Kunden eines Schuhgeschäfts.')
        .user('Ich suche Wanderschuhe.')
        .assistant('Welche Schuhgröße haben Sie?')
        .user('43')
        .assistant('Möchten Sie einen hohen oder einen niedrigen Schuh?')
        .user('Einen hohen.')
        .mark()
        .assistant('Welche Schuhgröße haben Sie?'),
    { source: 'otlp', may: mayLost },
  ),
  ill(
    'a diagnosis goes back to its first question',
    [context('repeated_question')],
    (run) =>
      run
        .system('You help with printers.')
        .user('It does not print.')
        .assistant('Is the printer connected by cable or by WLAN?')
        .user('By cable.')
        .assistant('Is the light green?')
        .user('Yes, green.')
        .assistant('Please restart it. Does it print now?')
        .user('No.')
        .mark()
        .assistant('Is the printer connected by cable or by WLAN?'),
    { may: mayLost },
  ),
  ill(
    'the question after the allergies comes back',
    [context('repeated_question')],
    (run) =>
      run
        .system('You take bookings for a restaurant.')
        .user('A table for three on Sunday.')
        .assistant('Does anybody have an allergy?')
        .user('Yes, to nuts.')
        .assistant('Noted. Inside or outside?')
        .user('Outside.')
        .mark()
        .assistant('Thank you. Does anybody have an allergy?'),
    { source: 'otlp_openinference', may: mayLost },
  ),
]
