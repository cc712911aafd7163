package parse

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"aiperf/internal/base/pattern"
	"aiperf/internal/base/scalar"
	"aiperf/internal/config"
	"aiperf/internal/config/fault"
	"aiperf/internal/config/option"
	"aiperf/internal/workload/recipe"
)

var (
	semicolonPair = pattern.New(
		`^(\d+)(?:\|(\d+(?:\.\d+)?|\.\d+))?\s*,\s*(\d+)(?:\|(\d+(?:\.\d+)?|\.\d+))?\s*:\s*(\d+(?:\.\d+)?|\.\d+)$`)
	bracketPair = pattern.New(`^\(\s*([^()]*?)\s*\)\s*:\s*(\d+(?:\.\d+)?|\.\d+)$`)
)

const pairShape = "write ISL[|stddev],OSL[|stddev]:percent;…, for example 256,128:40;512,256:60"

// SequenceDistribution reads a mix of lengths in any of its three spellings.
func SequenceDistribution(text string) ([]recipe.LengthPair, error) {
	text = strings.TrimSpace(text)
	var pairs []recipe.LengthPair
	var err error
	switch {
	case strings.HasPrefix(text, "{"):
		pairs, err = jsonPairs(text)
	case strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"):
		pairs, err = bracketPairs(text[1 : len(text)-1])
	default:
		for item := range strings.SplitSeq(strings.TrimSuffix(text, ";"), ";") {
			pair, pairErr := parsePair(item)
			if pairErr != nil {
				return nil, pairErr
			}
			pairs = append(pairs, pair)
		}
	}
	if err != nil {
		return nil, err
	}
	return pairs, checkPairs(pairs)
}

func checkPairs(pairs []recipe.LengthPair) error {
	if len(pairs) == 0 {
		return errors.New("it contains no pair; " + pairShape)
	}
	sum := 0.0
	for _, p := range pairs {
		sum += p.Percent
		isl, osl := p.ISL.(recipe.Normal), p.OSL.(recipe.Normal)
		switch {
		case isl.Mean < 1 || osl.Mean < 1:
			return fmt.Errorf("pair %v,%v: lengths must be at least 1", isl.Mean, osl.Mean)
		case max(isl.Mean, isl.Stddev, osl.Mean, osl.Stddev) > option.MaxTokens:
			return fmt.Errorf("pair %s,%s: lengths and their standard deviations must be at most %d",
				option.FormatFloat(isl.Mean), option.FormatFloat(osl.Mean), option.MaxTokens)
		case isl.Stddev < 0 || osl.Stddev < 0:
			return fmt.Errorf("pair %v,%v: standard deviations must be at least 0", isl.Mean, osl.Mean)
		case p.Percent < 0 || p.Percent > 100:
			return fmt.Errorf("pair %v,%v: the percentage must be from 0 to 100", isl.Mean, osl.Mean)
		}
	}
	const tolerance = 1.01e-4
	if math.Abs(sum-100) > tolerance {
		return fmt.Errorf("the percentages must sum to 100, not %s", option.FormatFloat(math.Round(sum*1e6)/1e6))
	}
	return nil
}

func parsePair(text string) (recipe.LengthPair, error) {
	m := semicolonPair.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return recipe.LengthPair{}, fmt.Errorf("%q is not a pair; %s", fault.Shorten(strings.TrimSpace(text)),
			pairShape)
	}
	isl, err1 := strconv.Atoi(m[1])
	osl, err2 := strconv.Atoi(m[3])
	if err := errors.Join(err1, err2); err != nil {
		return recipe.LengthPair{}, fmt.Errorf("%q: a length is too large", fault.Shorten(text))
	}
	real := func(s string) float64 {
		v, _ := strconv.ParseFloat(s, 64) // the pattern admits numbers only; none is 0
		return v
	}
	return lengthPair(isl, real(m[2]), osl, real(m[4]), real(m[5])), nil
}

// lengthPair is an entry of lengths that are fixed or spread.
func lengthPair(isl int, islStddev float64, osl int, oslStddev, percent float64) recipe.LengthPair {
	return recipe.LengthPair{ISL: recipe.Normal{Mean: float64(isl), Stddev: islStddev},
		OSL: recipe.Normal{Mean: float64(osl), Stddev: oslStddev}, Percent: percent}
}

// bracketPairs reads "(ISL,OSL):P" items separated by commas, semicolons or blanks.
func bracketPairs(text string) ([]recipe.LengthPair, error) {
	var pairs []recipe.LengthPair
	for {
		text = strings.TrimLeft(text, ",; \t\r\n")
		if text == "" {
			return pairs, nil
		}
		end := len(text)
		if open := strings.IndexByte(text[1:], '('); open >= 0 {
			end = open + 1
		}
		item := strings.TrimRight(text[:end], ",; \t\r\n")
		m := bracketPair.FindStringSubmatch(item)
		if m == nil {
			return nil, fmt.Errorf("%q is not a pair; write [(ISL[|stddev],OSL[|stddev]):percent,…]",
				fault.Shorten(item))
		}
		pair, err := parsePair(m[1] + ":" + m[2])
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
		text = text[end:]
	}
}

func jsonPairs(text string) ([]recipe.LengthPair, error) {
	var document struct {
		Pairs []struct {
			ISL       *int     `json:"isl"`
			OSL       *int     `json:"osl"`
			Prob      *float64 `json:"prob"`
			ISLStddev float64  `json:"isl_stddev"`
			OSLStddev float64  `json:"osl_stddev"`
		} `json:"pairs"`
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	const shape = `write {"pairs":[{"isl":256,"osl":128,"prob":100}]}`
	if err := dec.Decode(&document); err != nil || dec.More() {
		return nil, fmt.Errorf("the JSON is not a list of pairs; %s", shape)
	}
	var pairs []recipe.LengthPair
	for i, p := range document.Pairs {
		if p.ISL == nil || p.OSL == nil || p.Prob == nil {
			return nil, fmt.Errorf("pair %d lacks isl, osl or prob; %s", i+1, shape)
		}
		pairs = append(pairs, lengthPair(*p.ISL, p.ISLStddev, *p.OSL, p.OSLStddev, *p.Prob))
	}
	return pairs, nil
}

// LengthRange reads one ratio for both lengths, or an object with one for each.
func LengthRange(text string) (config.LengthRange, error) {
	const shape = `write a number such as 0.3, or {"input":0.3,"output":0}`
	if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") {
		x, err := scalar.Number(text)
		if err != nil {
			return config.LengthRange{}, errors.New(shape)
		}
		return config.LengthRange{Input: x, Output: x}, nil
	}
	var both struct {
		Input  *float64 `json:"input"`
		Output *float64 `json:"output"`
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&both); err != nil || dec.More() || both.Input == nil || both.Output == nil {
		return config.LengthRange{}, errors.New(shape)
	}
	return config.LengthRange{Input: *both.Input, Output: *both.Output}, nil
}
