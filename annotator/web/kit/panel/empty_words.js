// Words that say nothing about a document by themselves, language by language: a query's are not marked. Short on
// purpose: only what stands in nearly every text. Words of one character need no place here (see `termsOf`), but
// particles do: they are not marked even where a query has nothing else.

export const EMPTY_WORDS = new Set([
  // English
  "a about all also am an and any are as at be been but by can could did do does for from had has have how i if in into is it its may me my no not of on or our should so some such than that the their them then there these they this those to use used using was we were what when where which who why will with would you your",
  // Japanese: particles, auxiliaries, and the nouns that only carry a clause
  "は が を に へ と も の で や か ね よ わ な ぞ さ し て た だ ば れ せ ぬ ん " +
  "する した して され される いる いた ある あった ない なる なった できる できます する場合 こと もの とき ため よう ところ これ それ あれ この その あの どの どれ どう どこ いつ なぜ だれ など また および または について における に対する による により として とは から まで より だけ ほど くらい では には へは とも でも です ます ました ません ください 場合 方法 何 教え 教えて 知り たい たり ながら あなた わたし " +
  "行う 行い 行って 使う 使い 使って 後に 前に 時に 際に 中に 間に 上で その後 この度",
  // Korean: particles, the forms of 하다, 되다, 있다, 없다, and the nouns that only carry a clause
  "은 는 이 가 을 를 의 에 로 와 과 도 만 란 및 등 것 수 때 그 저 " +
  "있는 있다 있나 있나요 있는가 있습니까 없는 없다 하는 하다 하고 하여 하면 해야 한다 합니다 하나요 하는지 되는 되다 된다 됩니다 되나요 되는지 위한 위해 위하여 대한 대해 대하여 관한 관하여 관련 따른 따라 따르면 의한 의해 의하여 경우 어떤 어떻게 무엇 무엇인가 무엇인가요 언제 어디 누가 왜 얼마 그리고 또는 그러나 에서 부터 까지 으로 에게",
  // Thai, Chinese
  "ที่ และ ของ ใน การ ความ เป็น ได้ ให้ ว่า จะ มี ไม่ กับ หรือ จาก โดย คือ อะไร อย่างไร",
  "的 了 和 是 在 有 与 及 或 吗 呢 什么 怎么 如何 哪些",
].flatMap((line) => line.split(" ")));

// What Korean words carry at their end.
export const PARTICLES = /(?:에서는|에서의|으로서|으로써|으로는|에게서|하려면|하는지|하나요|합니까|합니다|하여야|까지|부터|에서|에게|으로|이나|이란|에는|에도|처럼|보다|마다|하고|하여|하면|하기|해야|한다|이며|하는|되는|되어|된다|인가|은|는|이|가|을|를|의|에|로|와|과|도|만|란)$/u;
