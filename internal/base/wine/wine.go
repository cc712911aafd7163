// Package wine tells tests whether they run under Wine, which differs from Windows in places. Only tests import it.
package wine
