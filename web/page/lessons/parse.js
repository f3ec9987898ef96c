/**
 * A lesson is a plain module in files/ that Node runs too, cut into steps by comments:
 *
 *     /**
 *      * Name | Title of the lesson
 *      *
 *      * What it is about.
 *      *\/
 *
 *     // %% Title of a step
 *     // @from 001, exercise 3.1
 *     // Words, with `code` in them. An empty comment line begins a paragraph.
 *
 *     show('Output', v1.forward(inputs).output);
 *
 *     // prints Output = [[0.2996, 0.8053], [0.3061, 0.8210]]
 *
 * `prints` is what the document prints for what `show` shows under that name, `expected` what follows from the
 * document without being printed there, `recorded` what the code gave when the lesson was written; each is JSON and may
 * go on for lines.
 *
 * @typedef {{ by: 'prints' | 'expected' | 'recorded', name: string, value: any }} Printed
 *
 * @typedef {object} Step
 * @property {string} title
 * @property {string} from where in the documents
 * @property {string[]} text paragraphs
 * @property {string} code as it stands in the file, from this step's first line to its last
 * @property {Printed[]} printed
 *
 * @typedef {object} Lesson
 * @property {string} name short, for lists
 * @property {string} title
 * @property {string[]} text paragraphs
 * @property {Step[]} steps
 */

const MARK = /^\/\/ %% /m;

/**
 * Paragraphs: lines joined, empty lines between.
 *
 * @param {string[]} lines
 */
const paragraphs = (lines) =>
  lines
    .join('\n')
    .split(/\n\s*\n/)
    .map((text) => text.replaceAll('\n', ' ').trim())
    .filter(Boolean);

/**
 * @param {string} source the text of a lesson's file
 * @returns {Lesson}
 * @throws {Error} if it is none
 */
export function parseLesson(source) {
  const [top, ...steps] = source.split(MARK);
  const [, comment] = /^\/\*\*\n([\s\S]*?)\n \*\//.exec(top) ?? [];
  if (comment === undefined || steps.length === 0) {
    throw new Error('a lesson begins with a comment and has a line "// %% Title" for every step');
  }
  const [head, ...text] = paragraphs(comment.split('\n').map((line) => line.replace(/^ \* ?/, '')));
  const [name, title = name] = head.split(' | ');
  return { name, title, text, steps: steps.map(parseStep) };
}

/**
 * @param {string} part
 * @returns {Step}
 */
function parseStep(part) {
  const [title, ...lines] = part.trimEnd().split('\n');
  const isComment = (/** @type {string} */ line) => line.startsWith('//');
  const start = lines.findIndex((line) => !isComment(line));
  const words = lines.slice(0, start).map((line) => line.replace(/^\/\/ ?/, ''));
  const at = lines.findIndex((line) => /^\/\/ (prints|expected|recorded) /.test(line));
  const code = lines.slice(start, at < 0 ? lines.length : at);
  const values = at < 0 ? [] : lines.slice(at).map((line) => line.replace(/^\/\/ ?/, ''));
  const from = words.find((line) => line.startsWith('@from ')) ?? '';
  return {
    title,
    from: from.replace('@from ', ''),
    text: paragraphs(words.filter((line) => line !== from)),
    code: code.join('\n').trim(),
    printed: values
      .join('\n')
      .split(/^(?=prints |expected |recorded )/m)
      .filter(Boolean)
      .map(parsePrinted),
  };
}

/**
 * @param {string} text
 * @returns {Printed}
 */
function parsePrinted(text) {
  const [, by, name, json] = /^(prints|expected|recorded) (.+?) =\s([\s\S]*)$/.exec(text) ?? [];
  if (json === undefined) throw new Error(`"${text}" is not "prints name = value"`);
  return { by: /** @type {Printed['by']} */ (by), name, value: JSON.parse(json) };
}
