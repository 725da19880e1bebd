/** Tells whether a count is of a part of the answer, or of something else. */
export function isOfAPart(left: string, right: string): boolean {
  return (
    /(?:^|\s)(?:per|each|every|a|pro|por|par|cada|chaque|jede[rsnm]?|in (?:each|every|the)) (?:section|item|bullet|point|paragraph|line|step|stanza|verse|row|cell|topic|part|idea|absatz|punkt|párrafo|punto|point|paragraphe)/i.test(
      right.slice(0, 40),
    ) ||
    /(?:(?:each|every|per|any|jede[rsnm]?|cada|chaque) (?:section|item|bullet(?: point)?|point|paragraph|line|step|sentence|verse|title|heading|headline|row|cell)|(?:first|last|opening|closing|final) (?:sentence|line|paragraph|word)|(?<!(?:single|one|1|seul|solo|einzigen) )(?:paragraphs?|bullets?|lines|sentences?|items|points|sections|titles?|names|slogans|headlines|options|words) (?:of|with|containing|that have|in|à|de|mit|von|con)|the (?:first|last|next|same|other|previous)|these|those|my|your (?:first|last))(?: (?!in\b|with\b|to\b|at\b)\p{L}+){0,3}[\s(]*$/iu.test(
      left.slice(-60),
    ) ||
    /(?<!(?:\d|one|two|three|four|five|six|single|few) )(?<!\p{L})(?:sentences?|bullets?|bullet points?|list items?)(?: (?!and\b|or\b|but\b|in\b|for\b|per\b|with a\b)\p{L}+){0,4}[\s(]*$/iu.test(
      left.slice(-60),
    ) ||
    (/^\s*(?:each|apiece)(?! (?:time|answer|reply|response|message)|,? always)/i.test(right) &&
      ofMany.test(left)) ||
    (/(?:^|[,;(] ?)each(?! (?:answers?|reply|response|message|post|text|turn|time))(?: one| of (?:them|these|which))?(?: \p{L}+){0,3} ?$/iu.test(
      left.slice(-60),
    ) &&
      ofMany.test(left)) ||
    ofSome.test(right) ||
    /^(?:[ -](?:old|away|per (?:minute|hour|day|page)|a (?:day|minute|page)|spacing|document|essay|story|article|novel|poem|letter word|limit (?:on|for) (?:my|our|the)|of (?:an?|the|each|every|their) (?:\p{L}+'s|customer|user|client)))/iu.test(
      right,
    )
  )
}

/** "Five sentences that begin with …", "ten words in capitals". */
const ofSome =
  /^(?: or \p{L}+)? (?:(?:in|with|of)(?: all| only)? (?:caps|capitals?|upper|lower|bold|italics?)|(?:that|which) (?:begin|start|end|contain|use|have)|(?:beginning|starting|ending) (?:with|in)|(?:with|by) ["'“⟦])/iu

/** Words for several parts of an answer, of which "each" has a length. */
const ofMany =
  /(?<!\p{L})(?:\d+|two|three|four|five|six|seven|eight|ten|several|some|lists?|(?!answers|replies|responses|messages|posts|texts|always|this|yes|us|is)\p{L}{3,}s)(?!\p{L})/iu
