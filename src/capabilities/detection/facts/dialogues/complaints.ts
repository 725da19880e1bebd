/**
 * Tells whether a user says that something had been said before. "Already" alone does not: a user
 * who already has a box complains about nothing.
 */
export function complains(text: string): boolean {
  return complaints.some((pattern) => pattern.test(text))
}

/** By language. `\b` does not count letters with accents as letters, so `\p{L}` marks where words end. */
const complaints = [
  // English
  /\balready (?:said|told|gave|given|provided|mentioned|answered|sent|shared|wrote|written|explained|stated|specified)(?!\p{L})|\byou already (?:have|know)\b/iu,
  /\b(?:told|gave|sent) (?:you|it|this|that)\b.{0,40}\b(?:already|before|earlier|above|twice|just now)\b|\b(?:i|we)(?:'ve| have)? (?:just )?told you\b/iu,
  /\b(?:as|like) (?:i|we)(?:'ve| have)? (?:just |already )?(?:said|wrote|written|mentioned|told|stated)\b/iu,
  /\b(?:see|as) (?:above|said|stated|written|mentioned)\b|\b(?:in|from) my (?:first|last|previous|earlier|other) (?:message|e-?mail)\b|\bi did (?:say|tell|mention|give|write)\b/iu,
  // German
  /(?<!\p{L})(?:bereits|schon|doch)(?: \p{L}+){0,3} (?:gesagt|genannt|geschrieben|angegeben|gegeben|mitgeteilt|geschickt|erwähnt|beantwortet)(?!\p{L})|(?<!\p{L})wie (?:schon |bereits |eben |oben )?(?:gesagt|geschrieben|erwähnt)(?!\p{L})/iu,
  /(?<!\p{L})(?:steht (?:doch |schon )?(?:oben|weiter oben)|siehe oben|s\. ?o\.)(?!\p{L})/iu,
  // French
  /(?<!\p{L})déjà (?:dit|donnée?|indiquée?|écrit|envoyée?|répondu|fourni|précisé|mentionné)(?!\p{L})|(?<!\p{L})comme (?:(?:je (?:vous |te )?l['’]ai )?(?:déjà )?(?:dit|écrit|indiqué|précisé))(?!\p{L})/iu,
  /(?<!\p{L})(?:voir|comme) (?:plus haut|ci-dessus)(?!\p{L})|dans mon premier message/iu,
  // Spanish
  /(?<!\p{L})ya (?:(?:te|se|le|les|os) ?)?(?:(?:lo|la) )?(?:(?:he|hemos|había) (?:dicho|dado|enviado|escrito|indicado|mencionado)|dij\p{L}+|di(?!\p{L})|envié|escribí|indiqué|mencioné)|(?<!\p{L})como (?:ya )?(?:(?:te|le|les|os) )?(?:dije|he dicho|escribí|mencioné)(?!\p{L})/iu,
  /(?<!\p{L})(?:está|lo puse|ver|véase) (?:más )?arriba(?!\p{L})|en mi primer mensaje/iu,
  // Chinese and Japanese
  /(?:刚才|刚刚|已经|之前|前面)(?:就|都)?(?:跟你|和你|向你|给你)?(?:说|讲|告诉|提供|提到|回答)|(?:说|讲|提|告诉)过/u,
  /(?:さっき|先ほど|さきほど|既に|すでに|もう|前に)も?(?:お?伝え|言|申し|書|送)/u,
]
